import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A search for the rows whose vectors are nearest to one that is given (chapter 66). */
final class Nearest {
  /** A row that was found: its place among the live rows, and its distance. */
  record Hit(int row, double distance) {}

  private final Table table;
  private final Column vectors;
  private final Field field;
  private final double[] query;
  private final Map<String, Object> asked;
  boolean used;

  Nearest(Table table, Map<String, Object> asked) {
    this.table = table;
    this.asked = asked;
    field = Table.find(table.fields, (String) asked.get("column"));
    if (!field.type().name().equals("fixed_size_list")) throw Refusal.unsupported("several vectors");
    vectors = table.column(field);
    query = cast(Json.list(asked.get("q")), field.type());
  }

  /** Returns the numbers of a query as the type of the column has them. */
  private static double[] cast(List<Object> numbers, Type type) {
    if (numbers.get(0) instanceof List) throw Refusal.unsupported("several vectors");
    Refusal.need(numbers.size() == type.size(), "a query of the dimension of the column");
    double[] found = numbers.stream().mapToDouble(text -> Double.parseDouble((String) text)).toArray();
    int bits = type.item().type().bits();
    return Arrays.stream(found).map(number -> Distance.rounded(number, bits)).toArray();
  }

  private int number(String name, int absent) {
    return asked.get(name) == null ? absent : ((Long) asked.get(name)).intValue();
  }

  /** Returns the k nearest of some live rows, nearest first. */
  List<Hit> search(int[] rows, boolean withIndex) {
    List<VectorIndex> indices = new ArrayList<>();
    Set<Long> covered = new HashSet<>();
    Map<Long, Integer> sizes = new HashMap<>();
    for (Fragment fragment : table.fragments) sizes.put(fragment.id, fragment.rows);
    String metric = (String) asked.get("metric");
    for (Index.Segment segment : withIndex ? Index.segments(table) : List.<Index.Segment>of()) {
      if (!segment.type().equals("VECTOR") || segment.field() != field.id()) continue;
      var index = VectorIndex.open(segment, field.type());
      if (metric != null && !metric.equals(index.metric)) continue;
      if (table.greatestKey() < Long.MAX_VALUE) index.checkKeys(segment.fragments(), sizes);
      indices.add(index);
      covered.addAll(segment.fragments());
    }
    used = !indices.isEmpty();
    boolean bytes = field.type().item().type().name().equals("uint8");
    if (metric == null) metric = used ? indices.get(0).metric : bytes ? "hamming" : "l2";
    int k = number("k", 10), refine = number("refine", 0);
    Map<Long, Integer> places = new HashMap<>();
    List<Integer> candidates = new ArrayList<>();
    long[] keys = table.keys(false), addresses = table.keys(true);
    for (int row : rows) {
      if (covered.contains(addresses[row] >>> 32)) places.put(keys[row], row);
      else if (vectors.isValid(row)) candidates.add(row);
    }
    boolean exact = refine > 0 || !candidates.isEmpty();
    List<Hit> hits = new ArrayList<>();
    for (VectorIndex index : indices) {
      int most = k * Math.max(1, refine);
      for (var hit : index.search(query, places.keySet(), most, k, number("nprobes", 0))) {
        if (exact) candidates.add(places.get(hit.key()));
        else hits.add(new Hit(places.get(hit.key()), hit.distance()));
      }
    }
    for (int row : candidates) {
      double distance = Distance.of(metric, query, Distance.vector(vectors, row));
      if (!Double.isNaN(distance)) hits.add(new Hit(row, distance));
    }
    List<Hit> ranged = new ArrayList<>(hits.stream().filter(this::inRange).toList());
    ranged.sort(Comparator.comparingDouble(Hit::distance).thenComparingLong(hit -> keys[hit.row]));
    return ranged.subList(0, Math.min(k, ranged.size()));
  }

  private boolean inRange(Hit hit) {
    if (asked.get("range") == null) return true;
    List<Object> range = Json.list(asked.get("range"));
    boolean above = range.get(0) == null || hit.distance >= Double.parseDouble((String) range.get(0));
    return above && (range.get(1) == null || hit.distance < Double.parseDouble((String) range.get(1)));
  }
}
