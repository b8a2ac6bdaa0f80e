import java.util.stream.IntStream;

/** Distances between vectors, and how many partitions a query looks at first (chapter 66). */
final class Distance {
  private Distance() {}

  /** Returns the vector of a row of a fixed-size list. */
  static double[] vector(Column column, int row) {
    int dimension = column.type().size();
    Column items = column.children().get(0);
    return IntStream.range(0, dimension)
        .mapToDouble(i -> items.isValid(row * dimension + i) ? items.number(row * dimension + i) : Double.NaN)
        .toArray();
  }

  static double[] normalized(double[] vector) {
    double length = Math.sqrt(dot(vector, vector));
    return IntStream.range(0, vector.length).mapToDouble(i -> vector[i] / length).toArray();
  }

  /** Returns the nearest number that a float of some bits has. */
  static double rounded(double value, int bits) {
    if (bits == 32) return (float) value;
    if (bits != 16 || value == 0 || Double.isNaN(value)) return value;
    double unit = Math.scalb(1.0, Math.max(Math.getExponent(value), -14) - 10);
    return Math.rint(value / unit) * unit;
  }

  private static double dot(double[] one, double[] other) {
    double sum = 0;
    for (int i = 0; i < one.length; i++) sum += one[i] * other[i];
    return sum;
  }

  static double of(String metric, double[] one, double[] other) {
    if (metric.equals("dot")) return 1 - dot(one, other);
    if (metric.equals("cosine")) {
      return 1 - dot(one, other) / Math.sqrt(dot(one, one)) / Math.sqrt(dot(other, other));
    }
    double sum = 0;
    for (int i = 0; i < one.length; i++) {
      double apart = one[i] - other[i];
      sum += metric.equals("l2") ? apart * apart : Integer.bitCount((int) one[i] ^ (int) other[i]);
    }
    return sum;
  }

  /**
   * Returns how many partitions are searched first when a query does not say (Partitions).
   *
   * @param ranked distances of all centroids, the least first
   */
  static int probes(String metric, int k, int rows, double[] ranked) {
    double[][] table = switch (metric) {
      case "l2" -> new double[][] {{5, 19, 1.2175}, {6, 24, 1.265}, {11, 38, 1.33}};
      case "cosine" -> new double[][] {{3, 50, 1.235}, {8, 77, 1.2875}, {7, 106, 1.38}};
      case "dot" -> new double[][] {{56, 112, 0.14}, {144, 432, 0.055}, {200, 768, 0.062}};
      default -> new double[][] {{1, 1, 0.6}, {1, 1, 7}, {1, 1, 81}};
    };
    double[] bounds = table[k == 1 ? 0 : k <= 10 ? 1 : 2];
    double least = rows == 0 ? 0 : Math.ceil((double) k * ranked.length / rows);
    double nearest = ranked[0];
    double most = metric.equals("dot") ? nearest + bounds[2] * Math.abs(1 - nearest) : bounds[2] * nearest;
    long near = java.util.Arrays.stream(ranked).filter(each -> each <= most).count();
    return (int) Math.max(Math.max(least, bounds[0]), Math.min(near, bounds[1]));
  }
}
