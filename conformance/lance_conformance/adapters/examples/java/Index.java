import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The segments of one scalar index (chapters 60 and 62): answers of BTREE and BITMAP. */
final class Index {
  /** Rows for which a condition is true, and rows for which the value is null. */
  private record Rows(Set<Long> found, Set<Long> nulls) {}

  /** An entry of the index section: the files of one segment, and the fragments it covers. */
  record Segment(
      Path folder, String type, int field, Set<Long> fragments, long greatestKey,
      Reuse reuse, boolean byAddress) {
    DataFile file(String name) {
      DataFile file = DataFile.open(folder.resolve(name));
      if (file.version.equals("2.3")) throw Refusal.unsupported("version");
      return file;
    }

    /** Returns a column of a file that must be there, of a type, without nulls if it is a number. */
    static Column column(DataFile file, String name, String type) {
      List<Field> fields = file.fields;
      for (int i = 0; i < fields.size(); i++) {
        if (!fields.get(i).name().equals(name)) continue;
        Column column = FileReader.read(file).get(i);
        boolean fits = type == null || column.type().name().equals(type) && !column.hasNulls();
        Refusal.need(fits, "a column " + name + " of its type, without nulls");
        return column;
      }
      throw Refusal.invalid("an index file without a column " + name);
    }
  }

  private Index() {}

  /** Returns the segments whose types this reader knows. */
  static List<Segment> segments(Table table) {
    List<Segment> segments = new ArrayList<>();
    if (!table.manifest.has(6)) return segments;
    List<Message> entries = table.section(table.manifest.number(6)).messages(1);
    Reuse reuse = Reuse.NONE;
    for (Message entry : entries) {
      if (!entry.text(3).equals("__lance_frag_reuse") || table.hasRowIds()) continue;
      reuse = Reuse.of(Message.of(entry.message(6).bytes(2)), folder(table, entry));
    }
    for (Message entry : entries) {
      Path folder = folder(table, entry);
      String type = type(entry, folder);
      long[] fields = entry.numbers(2);
      if (type == null || fields.length != 1 || !entry.has(5)) continue;
      Set<Long> covered = new HashSet<>();
      for (long fragment : Roaring.bitmap(entry.bytes(5))) covered.add(fragment);
      // Chapter 62: a BTREE has addresses from version 1 on, also where rows have ids.
      boolean byAddress = type.equals("BTREE") && entry.number(7) > 0;
      segments.add(new Segment(
          folder, type, (int) fields[0], reuse.moved(covered), table.greatestKey(), reuse, byAddress));
    }
    return segments;
  }

  private static Path folder(Table table, Message entry) {
    return table.root.resolve("_indices").resolve(uuid(entry.message(1).bytes(1)));
  }

  private static String uuid(byte[] bytes) {
    Refusal.need(bytes.length == 16, "a uuid of 16 bytes");
    var hex = new StringBuilder();
    for (byte each : bytes) hex.append(String.format("%02x", each));
    for (int at : new int[] {20, 16, 12, 8}) hex.insert(at, '-');
    return hex.toString();
  }

  /** Returns the type of an entry, by its details or else by its files; null for others. */
  private static String type(Message entry, Path folder) {
    if (entry.number(7) > 1) return null;
    String url = entry.message(6).text(1).toLowerCase(Locale.ROOT);
    if (url.endsWith("btreeindexdetails")) return "BTREE";
    if (url.endsWith("bitmapindexdetails")) return "BITMAP";
    if (url.endsWith("vectorindexdetails")) return "VECTOR";
    if (!url.isEmpty()) return null;
    if (Files.exists(folder.resolve("page_lookup.lance"))) return "BTREE";
    if (Files.exists(folder.resolve("bitmap_page_lookup.lance"))) return "BITMAP";
    return Files.exists(folder.resolve("index.idx")) ? "VECTOR" : null;
  }

  /**
   * Answers a condition for rows that segments cover: for each key TRUE, FALSE, or null.
   *
   * <p>Rows of other fragments are not asked about.
   */
  static java.util.function.LongFunction<Object> answers(Segment segment, Sql.Condition condition) {
    Rows rows = segment.type.equals("BTREE") ? btree(segment, condition) : bitmap(segment, condition);
    return key -> {
      if (condition.isNull()) return rows.nulls.contains(key);
      return rows.found.contains(key) ? (Object) true : rows.nulls.contains(key) ? null : false;
    };
  }

  private static Rows btree(Segment segment, Sql.Condition condition) {
    DataFile data = segment.file("page_data.lance"), lookup = segment.file("page_lookup.lance");
    boolean early = data.fields.stream().anyMatch(field -> field.name().equals("row_ids"));
    Column values = Segment.column(data, "values", null);
    Column ids = Segment.column(data, early ? "row_ids" : "ids", "uint64");
    Column least = Segment.column(lookup, "min", null), most = Segment.column(lookup, "max", null);
    Column nullCount = Segment.column(lookup, "null_count", "uint32");
    Column pageIndex = Segment.column(lookup, "page_idx", "uint32");
    String stated = lookup.text("batch_size");
    long size = stated != null && stated.matches("\\d{1,9}") ? Long.parseLong(stated) : 4096;
    var rows = new Rows(new HashSet<>(), new HashSet<>());
    for (int page = 0; page < lookup.rows; page++) {
      long first = pageIndex.integer(page) * size, end = Math.min(first + size, values.rows());
      Refusal.need(first < values.rows(), "a page that lies in the data");
      boolean above = condition.low() != null && most.isValid(page)
          && Sql.compare(most.value(page), condition.low()) < 0;
      boolean below = condition.high() != null && least.isValid(page)
          && Sql.compare(least.value(page), condition.high()) > 0;
      if ((above || below) && nullCount.integer(page) == 0) continue;
      for (int row = (int) first; row < end; row++) {
        add(segment, rows, condition, values.value(row), ids.integer(row));
      }
    }
    return rows;
  }

  private static Rows bitmap(Segment segment, Sql.Condition condition) {
    DataFile file = segment.file("bitmap_page_lookup.lance");
    Column keys = Segment.column(file, "keys", null);
    Column sets = Segment.column(file, "bitmaps", "binary");
    var rows = new Rows(new HashSet<>(), new HashSet<>());
    for (int row = 0; row < keys.rows(); row++) {
      Object value = keys.isValid(row) ? keys.value(row) : null;
      for (long key : Roaring.rows(sets.bytes(row))) {
        add(segment, rows, condition, value, key);
      }
    }
    return rows;
  }

  private static void add(
      Segment segment, Rows rows, Sql.Condition condition, Object value, long stored) {
    long key = segment.reuse.moved(stored);
    boolean found = value == null || Boolean.TRUE.equals(condition.test(value));
    Refusal.need(!found || key <= segment.greatestKey, "a row of a fragment that never was");
    if (value == null) rows.nulls.add(key);
    else if (found) rows.found.add(key);
  }
}
