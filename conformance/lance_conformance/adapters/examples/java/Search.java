import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;

/** Which live rows of a table pass a filter, by its indices or by the values. */
final class Search {
  /** A live row: its place in the columns, its fragment and its key in indices. */
  private final class Live implements Sql.Row {
    private final Map<String, Column> columns = new HashMap<>();
    private final Map<Sql.Condition, List<LongFunction<Object>>> known = new HashMap<>();
    private int row;

    @Override
    public Object value(String name) {
      return columns.computeIfAbsent(name, key -> table.column(Table.find(table.fields, key))).value(row);
    }

    @Override
    public Object answer(Sql.Condition condition) {
      int field = Table.find(table.fields, condition.column()).id();
      for (int i = 0; i < segments.size(); i++) {
        Index.Segment segment = segments.get(i);
        boolean covers = segment.field() == field && !segment.type().equals("VECTOR")
            && segment.fragments().contains(fragments[row]);
        if (!covers) continue;
        var answers = known.computeIfAbsent(condition, key -> new ArrayList<>());
        while (answers.size() <= i) answers.add(null);
        if (answers.get(i) == null) answers.set(i, Index.answers(segment, condition));
        used = true;
        return answers.get(i).apply(segment.byAddress() ? addresses[row] : keys[row]);
      }
      return condition.test(value(condition.column()));
    }
  }

  private final Table table;
  private final List<Index.Segment> segments;
  private final long[] keys;
  private final long[] addresses;
  private final long[] fragments;
  boolean used;

  Search(Table table, boolean withIndices) {
    this.table = table;
    segments = withIndices ? Index.segments(table) : List.of();
    keys = table.keys(false);
    fragments = new long[keys.length];
    addresses = table.keys(true);
    for (int row = 0; row < keys.length; row++) fragments[row] = addresses[row] >>> 32;
  }

  /** Returns the places, among the live rows, of those for which a filter is true. */
  List<Integer> passing(String sql) {
    List<Integer> found = new ArrayList<>();
    Sql.Expression filter = Sql.parse(sql);
    var live = new Live();
    for (live.row = 0; live.row < keys.length; live.row++) {
      if (Boolean.TRUE.equals(filter.of(live))) found.add(live.row);
    }
    return found;
  }
}
