import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** One segment of an IVF_FLAT or IVF_PQ index (chapter 66): its partitions and stored vectors. */
final class VectorIndex {
  private static final List<String> METRICS = List.of("l2", "cosine", "dot", "hamming");

  /** A row that was found: its key and how far it is, about. */
  record Hit(long key, double distance) {}

  final String metric;
  private final double[][] centroids;
  private final int[] starts;
  private final long[] keys;
  private final Column flat;
  private final Pq pq;

  private VectorIndex(
      String metric, double[][] centroids, int[] starts, long[] keys, Column flat, Pq pq) {
    this.metric = metric;
    this.centroids = centroids;
    this.starts = starts;
    this.keys = keys;
    this.flat = flat;
    this.pq = pq;
  }

  static VectorIndex open(Index.Segment segment, Type column) {
    byte[] data = DataFile.read(segment.folder().resolve("index.idx"));
    int foot = data.length - 16;
    boolean single = foot >= 0 && Bytes.u64(data, foot + 8) == 0x434e414c00010000L;
    return single ? single(data, column) : pair(segment, new DataFile(data), column);
  }

  private static VectorIndex pair(Index.Segment segment, DataFile head, Type column) {
    Map<String, Object> index = Json.object(json(head, "lance:index"));
    String type = String.valueOf(index.get("type"));
    Refusal.need(type.matches("IVF_(FLAT|PQ|SQ|RQ|HNSW_FLAT|HNSW_PQ|HNSW_SQ)"), "type " + type);
    if (!type.equals("IVF_FLAT") && !type.equals("IVF_PQ")) throw Refusal.unsupported(type);
    String metric = metric(String.valueOf(index.get("distance_type")), column);
    Message ivf = Message.of(head.global(head.text("lance:ivf")));
    double[][] centroids = centroids(ivf, column);
    int count = centroids.length, lengths = ivf.numbers(3).length;
    Refusal.need(count > 0 && (lengths == 0 || lengths == count), "centroids");
    Refusal.need(Json.list(json(head, "lance:flat")).size() == count, "a text for each partition");

    DataFile auxiliary = segment.file("auxiliary.idx");
    Refusal.need(metric.equals(metric(auxiliary.text("distance_type"), column)), "one metric");
    List<Object> texts = Json.list(json(auxiliary, "storage_metadata"));
    Refusal.need(texts.size() == 1 && texts.get(0) instanceof String, "a list of one text");
    Map<String, Object> storage = Json.object(Json.parse((String) texts.get(0)));
    boolean isPq = type.equals("IVF_PQ");
    Column ids = Index.Segment.column(auxiliary, "_rowid", "uint64");
    Column stored = Index.Segment.column(auxiliary, isPq ? "__pq_code" : "flat", "fixed_size_list");
    Refusal.need(!stored.children().get(0).hasNulls(), "vectors without nulls");
    int[] starts = starts(Message.of(auxiliary.global(auxiliary.text("lance:ivf"))), count, ids.rows());
    long[] keys = IntStream.range(0, ids.rows()).mapToLong(ids::integer).map(segment.reuse()::moved).toArray();
    if (isPq) {
      Pq pq = Pq.of(auxiliary, storage, stored, column);
      return new VectorIndex(metric, centroids, starts, keys, null, pq);
    }
    boolean fits = Pq.number(storage, "dim") == column.size() && stored.type().size() == column.size()
        && stored.type().item().type().equals(column.item().type());
    Refusal.need(fits, "vectors of the type of the column");
    return new VectorIndex(metric, centroids, starts, keys, stored, null);
  }

  /** Reads an IVF_PQ index of early releases (chapter 66, Single file). */
  private static VectorIndex single(byte[] data, Type column) {
    long end = data.length - 16L, place = Bytes.u64(data, end);
    Refusal.need(place >= 0 && place <= end - 4, "a message before the footer");
    long size = Bytes.u32(data, place);
    Refusal.need(size <= end - 4 - place, "a message before the footer");
    Message index = Message.of(Bytes.cut(data, place + 4, size)).message(5);
    Message ivf = null, described = null;
    for (Message stage : index.messages(3)) {
      if (stage.has(4) || stage.has(5)) throw Refusal.unsupported("IVF_PQ");
      if (stage.has(2)) ivf = stage.message(2);
      if (stage.has(3)) described = stage.message(3);
    }
    Refusal.need(ivf != null && described != null && index.number(4) < 3, "the stages ivf and pq");
    double[][] centroids = centroids(ivf, column);
    long[] offsets = ivf.numbers(2), lengths = ivf.numbers(3);
    boolean each = offsets.length == centroids.length && lengths.length == centroids.length;
    Refusal.need(each && centroids.length > 0, "an offset and a length for each centroid");
    int width = Pq.of(described, null, column).bytesPerRow();
    var codes = new java.io.ByteArrayOutputStream();
    var keys = new ArrayList<Long>();
    int[] starts = new int[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      byte[] rows = Bytes.cut(data, offsets[i], lengths[i] * (width + 8));
      int count = (int) lengths[i];
      codes.write(rows, 0, count * width);
      for (int row = 0; row < count; row++) keys.add(Bytes.u64(rows, (long) count * width + 8L * row));
      starts[i + 1] = starts[i] + count;
    }
    return new VectorIndex(METRICS.get((int) index.number(4)), centroids, starts,
        keys.stream().mapToLong(Long::longValue).toArray(), null,
        Pq.of(described, codes.toByteArray(), column));
  }

  private static Object json(DataFile file, String key) {
    Refusal.need(file.text(key) != null, "an index file without " + key);
    return Json.parse(file.text(key));
  }

  private static String metric(String text, Type column) {
    String metric = String.valueOf(text).toLowerCase();
    boolean bytes = column.item().type().name().equals("uint8");
    boolean fits = METRICS.contains(metric) && bytes == metric.equals("hamming");
    Refusal.need(fits, "a metric of the column");
    return metric;
  }

  private static double[][] centroids(Message ivf, Type column) {
    int dimension = column.size();
    double[] numbers = ivf.has(4) ? Pq.tensor(ivf.message(4), column) : ivf.floats(1);
    Refusal.need(numbers.length % dimension == 0, "centroids of the dimension of the column");
    double[][] centroids = new double[numbers.length / dimension][dimension];
    for (int i = 0; i < numbers.length; i++) centroids[i / dimension][i % dimension] = numbers[i];
    return centroids;
  }

  private static int[] starts(Message ivf, int count, int rows) {
    long[] offsets = ivf.numbers(2), lengths = ivf.numbers(3);
    Refusal.need(lengths.length == count, "a length for each centroid");
    Refusal.need(offsets.length == count || offsets.length == 0, "an offset for each length");
    int[] starts = new int[count + 1];
    for (int i = 0; i < count; i++) {
      Refusal.need(offsets.length == 0 || offsets[i] == starts[i], "partitions that follow each other");
      starts[i + 1] = Bytes.limited(starts[i] + lengths[i]);
    }
    Refusal.need(starts[count] == rows, "partitions of all rows");
    return starts;
  }

  /** Refuses addresses of rows that the fragments covered do not have. */
  void checkKeys(Set<Long> fragments, Map<Long, Integer> rows) {
    for (long key : keys) {
      long fragment = key >>> 32;
      boolean none = fragments.contains(fragment) && rows.containsKey(fragment)
          && (key & 0xffffffffL) >= rows.get(fragment);
      Refusal.need(!none, "an address of no row");
    }
  }

  /**
   * Returns the nearest rows of the partitions that are searched, nearest first.
   *
   * @param allowed keys of the rows that count
   * @param most how many rows are returned
   * @param k how many rows the query wants
   * @param probes number of partitions, 0 when the query does not say
   */
  List<Hit> search(double[] query, Set<Long> allowed, int most, int k, int probes) {
    boolean cosine = metric.equals("cosine");
    double[] asked = cosine ? Distance.normalized(query) : query;
    double[] far = new double[centroids.length];
    for (int i = 0; i < far.length; i++) {
      far[i] = Distance.of(cosine ? "l2" : metric, asked, centroids[i]);
    }
    List<Integer> order = new ArrayList<>(IntStream.range(0, far.length).boxed().toList());
    order.sort(Comparator.comparingDouble(i -> far[i]));
    double[] ranked = order.stream().mapToDouble(i -> far[i]).toArray();
    int first = probes > 0 ? probes : Distance.probes(metric, k, keys.length, ranked);
    List<Hit> hits = new ArrayList<>();
    for (int i = 0; i < order.size(); i++) {
      if (i >= first && (probes > 0 || hits.size() >= k)) break;
      int partition = order.get(i), start = starts[partition], end = starts[partition + 1];
      for (int row = start; row < end; row++) {
        if (!allowed.contains(keys[row])) continue;
        double distance = pq == null ? Distance.of(metric, asked, Distance.vector(flat, row))
            : pq.distance(metric, asked, centroids[partition], start, end - start, row);
        if (!Double.isNaN(distance)) hits.add(new Hit(keys[row], distance));
      }
    }
    hits.sort(Comparator.comparingDouble(Hit::distance).thenComparingLong(Hit::key));
    return hits.subList(0, Math.min(most, hits.size()));
  }
}
