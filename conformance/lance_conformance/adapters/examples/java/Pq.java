import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Product quantization (chapter 66, PQ): codes of sub-vectors, and the codewords they stand for.
 *
 * @param codes the bytes of all rows, partition by partition
 * @param numberBits width of the numbers of the column
 */
record Pq(
    int bits, int parts, boolean transposed, double[] codebook, byte[] codes, int numberBits) {

  /** Reads the codes and the codebook of a file with two columns. */
  static Pq of(DataFile file, Map<String, Object> storage, Column codes, Type column) {
    long bits = number(storage, "nbits"), parts = number(storage, "num_sub_vectors");
    long place = number(storage, "codebook_position");
    Refusal.need(storage.get("transposed") instanceof Boolean, "transposed or not");
    List<Object> own = Json.list(storage.get("codebook_tensor"));
    byte[] data = new byte[own.size()];
    for (int i = 0; i < data.length; i++) data[i] = ((Long) own.get(i)).byteValue();
    if (place != 0 || data.length == 0) data = file.global(String.valueOf(place));
    double[] codebook = tensor(Message.of(data), column);
    Pq pq = checked(bits, parts, (Boolean) storage.get("transposed"), codebook,
        codes.children().get(0).data(), column);
    boolean fits = codes.type().size() == parts * bits / 8
        && codes.type().item().type().name().equals("uint8");
    Refusal.need(fits, "codes of their bytes");
    return pq;
  }

  /** Takes the codebook of the message of a single file, whose codes lie row by row. */
  static Pq of(Message pq, byte[] codes, Type column) {
    double[] codebook = pq.has(5) ? tensor(pq.message(5), column) : pq.floats(4);
    return checked(pq.number(1), pq.number(2), false, codebook, codes, column);
  }

  private static Pq checked(
      long bits, long parts, boolean transposed, double[] codebook, byte[] codes, Type column) {
    Refusal.need(bits == 4 || bits == 8, "codes of 4 or 8 bits");
    boolean divides = parts > 0 && column.size() % parts == 0 && (bits == 8 || parts % 2 == 0);
    Refusal.need(divides, "sub-vectors that divide the dimension");
    Refusal.need(codebook.length == column.size() << bits, "a codebook of all codewords");
    return new Pq(
        (int) bits, (int) parts, transposed, codebook, codes, column.item().type().bits());
  }

  static long number(Map<String, Object> storage, String key) {
    Refusal.need(storage.get(key) instanceof Long, "a number " + key);
    return (Long) storage.get(key);
  }

  /** Returns the numbers of a tensor, whose rows are of the type and dimension of a column. */
  static double[] tensor(Message tensor, Type column) {
    Map<Long, String> types = Map.of(1L, "halffloat", 2L, "float", 3L, "double", 4L, "uint8");
    Type type = column.item().type();
    long[] shape = tensor.numbers(2);
    boolean fits = shape.length == 2 && shape[1] == column.size()
        && type.name().equals(types.get(tensor.number(1)));
    Refusal.need(fits, "a tensor of rows of the type and the dimension of the column");
    byte[] data = tensor.bytes(3);
    Refusal.need(data.length == shape[0] * shape[1] * type.width(), "the data of a tensor");
    int count = data.length / type.width();
    Column values = Column.fixed(type, count, null, data);
    return IntStream.range(0, count).mapToDouble(values::number).toArray();
  }

  int bytesPerRow() {
    return parts * bits / 8;
  }

  /**
   * Returns how far a row is, about, from a query.
   *
   * @param start first row of the partition, which has `rows` of them
   */
  double distance(String metric, double[] query, double[] centroid, int start, int rows, int row) {
    boolean dot = metric.equals("dot");
    int width = query.length / parts;
    double sum = 0;
    for (int part = 0; part < parts; part++) {
      int at = bits == 8 ? part : part / 2;
      int place = transposed ? at * rows + row - start : (row - start) * bytesPerRow() + at;
      int code = codes[start * bytesPerRow() + place] & 0xff;
      if (bits == 4) code = code >> 4 * (part % 2) & 15;
      for (int i = 0; i < width; i++) {
        double word = codebook[((part << bits) + code) * width + i];
        int component = part * width + i;
        double asked = dot ? query[component]
            : Distance.rounded(query[component] - centroid[component], numberBits);
        sum += dot ? asked * word : (asked - word) * (asked - word);
      }
    }
    return dot ? 1 - sum : sum;
  }
}
