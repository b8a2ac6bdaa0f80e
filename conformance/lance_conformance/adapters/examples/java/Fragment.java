import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** Rows of a table that lie in the same data files (chapter 40, Fragments and data files). */
final class Fragment {
  /** A column of a data file of 2.x, or a file of 0.1. */
  private record Home(DataFile file, int column, LegacyFile legacy) {}

  final long id;
  final int rows;
  final int[] live;
  final long[] rowIds;
  private final Table table;
  private final Map<Integer, Home> homes = new HashMap<>();

  Fragment(Table table, Message fragment) {
    this.table = table;
    id = fragment.number(1);
    long stated = fragment.number(4), counted = -1;
    for (Message file : fragment.messages(2)) {
      long found = open(file);
      Refusal.need(counted < 0 || counted == found, "files of one fragment have the same rows");
      counted = found;
    }
    boolean early = !table.manifest.has(13) && fragment.has(3);
    boolean unstated = stated == 0 || early;
    Refusal.need(unstated || counted < 0 || counted == stated, "files of the rows of the fragment");
    rows = Bytes.limited(unstated ? Math.max(counted, 0) : stated);
    Set<Long> deleted = fragment.has(3) ? deleted(fragment.message(3)) : Set.of();
    live = IntStream.range(0, rows).filter(row -> !deleted.contains((long) row)).toArray();
    boolean stable = (table.manifest.number(9) & 2) != 0;
    Refusal.need(!stable || fragment.has(5) || fragment.has(12), "row ids of a fragment");
    if (stable && !fragment.has(5)) throw Refusal.unsupported("stable-row-ids");
    rowIds = stable ? RowIds.of(fragment.bytes(5), rows) : null;
  }

  /** Opens a data file, notes which fields it has, and returns its number of rows. */
  private long open(Message file) {
    String name = file.text(1);
    boolean below = !name.isEmpty() && !name.startsWith("/")
        && !List.of(name.split("/")).contains("..");
    Refusal.need(below && !file.has(7), "a path below the data folder");
    byte[] data = DataFile.read(table.root.resolve("data").resolve(name));
    long[] ids = file.numbers(2), columns = file.numbers(3);
    boolean legacy = file.number(4) == 0;
    if (legacy) {
      Refusal.need(file.number(5) <= 2 && table.isLegacy, "a file of 0.1 in a table of 0.1");
      var opened = new LegacyFile(data, table.file, ids);
      for (long field : ids) place((int) field, new Home(null, 0, opened));
      return opened.rows();
    }
    Refusal.need(file.number(6) == 0 || file.number(6) == data.length, "a file of its size");
    DataFile opened = new DataFile(data);
    boolean version = opened.version.equals(file.number(4) + "." + file.number(5))
        && (table.isLegacy ? "2.0" : table.manifest.message(15).text(2)).equals(opened.version);
    Refusal.need(version, "a file of the version of the table");
    if (opened.version.equals("2.3")) throw Refusal.unsupported("version");
    FileReader.places(opened);
    Refusal.need(columns.length == ids.length, "a column index for each field");
    Set<Long> used = new HashSet<>();
    for (int i = 0; i < ids.length; i++) {
      boolean valid = columns[i] >= 0 && columns[i] < opened.numColumns() && used.add(columns[i]);
      Refusal.need(valid, "column indices of columns, each used once");
      place((int) ids[i], new Home(opened, (int) columns[i], null));
    }
    return opened.rows;
  }

  private void place(int field, Home home) {
    Refusal.need(field >= -5 && field != -1, "a field id of a data file");
    if (field < 0) return;
    Refusal.need(homes.put(field, home) == null, "a field in one file of a fragment");
  }

  private Set<Long> deleted(Message file) {
    long kind = file.number(1);
    Refusal.need(kind == 0 || kind == 1, "a deletion file that is an Arrow file or a bitmap");
    String name = id + "-" + Long.toUnsignedString(file.number(2)) + "-"
        + Long.toUnsignedString(file.number(3)) + (kind == 0 ? ".arrow" : ".bin");
    Path path = table.root.resolve("_deletions").resolve(name);
    byte[] data = DataFile.read(path);
    long[] offsets = kind == 0 ? Arrow.deletedRows(data) : Roaring.bitmap(data);
    Set<Long> found = new HashSet<>();
    for (long offset : offsets) {
      Refusal.need(offset < rows && found.add(offset), "deleted rows of the fragment, each once");
    }
    long count = file.number(4);
    Refusal.need(count == 0 || count == found.size(), "as many deleted rows as the manifest says");
    return found;
  }

  /** Returns all physical rows of a field; nulls where no file has it. */
  Column column(Field field) {
    Home home = homes.get(first(field));
    if (home != null && home.legacy != null) return home.legacy.read(field);
    Column column = FileReader.read(field, one -> {
      Home found = homes.get(one.id());
      return found == null ? null : new FileReader.Place(found.file, found.column);
    }, rows);
    Refusal.need(column.rows() == rows, "a column of the rows of the fragment");
    return column;
  }

  private int first(Field field) {
    boolean nested = !homes.containsKey(field.id()) && !field.type().children().isEmpty();
    return nested ? first(field.type().item()) : field.id();
  }
}
