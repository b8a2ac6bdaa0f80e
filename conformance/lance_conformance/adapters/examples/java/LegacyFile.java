import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A file of 0.1 (chapter 15): batches of rows, with a page of each field in each batch. */
final class LegacyFile {
  /** Where the page of a field in a batch lies, and how many values it has. */
  private record Page(long position, int length) {}

  private final byte[] data;
  private final byte[] manifest;
  private final long[] batches;
  private final long table;
  private final long first;

  /** Opens a file with fields of some ids, whose dictionaries are in the file of a manifest. */
  LegacyFile(byte[] data, byte[] manifest, long[] ids) {
    this.data = data;
    this.manifest = manifest;
    Refusal.need(data.length >= 16, "a footer of 0.1 has 16 bytes");
    int foot = data.length - 16;
    long words = Bytes.u32(data, foot + 8);
    Refusal.need(Bytes.u32(data, foot + 12) == 0x434e414cL, "a file ends with LANC");
    Refusal.need((words & 0xffff) == 0 && words >> 16 <= 2, "version words of 0.1");
    long position = Bytes.u64(data, foot);
    Message metadata = section(position, foot);
    long embedded = metadata.number(1);
    Refusal.need(embedded == 0 || embedded < position, "a manifest before the metadata");
    var own = embedded == 0 ? List.<Message>of() : section(embedded, position).messages(1);
    var listed = own.isEmpty() ? Arrays.stream(ids) : own.stream().mapToLong(one -> one.int32(3));
    first = listed.filter(id -> id >= 0).min().orElse(0); // -2 lies where a field has been replaced
    batches = metadata.numbers(2);
    Refusal.need(batches.length >= 2 && batches[0] == 0, "a file of 0.1 has a batch");
    for (int i = 1; i < batches.length; i++) {
      Refusal.need(batches[i] > batches[i - 1] && batches[i] <= Bytes.LIMIT, "batches grow");
    }
    table = metadata.number(3);
    long end = embedded == 0 ? position : embedded;
    if (metadata.has(5)) end = Math.min(end, metadata.message(5).number(3));
    Refusal.need(table >= 0 && table <= end, "the page table lies before what follows it");
  }

  /** Returns the message after a length, which ends at `end` or before it. */
  private Message section(long position, long end) {
    Refusal.need(position >= 0 && position <= end - 4, "a section with its length");
    long size = Bytes.u32(data, position);
    Refusal.need(size <= end - 4 - position, "a section that ends before what follows");
    return Message.of(Bytes.cut(data, position + 4, size));
  }

  long rows() {
    return batches[batches.length - 1];
  }

  private Page page(Field field, int batch, int rows) {
    int numBatches = batches.length - 1;
    long entry = table + ((field.id() - first) * numBatches + batch) * 16;
    long position = Bytes.u64(data, entry), length = Bytes.u64(data, entry + 8);
    Refusal.need(position >= 0 && position <= table, "a page before the page table");
    Refusal.need(length == rows, "a page of the rows of its batch");
    return new Page(position, (int) length);
  }

  private byte[] bytes(long position, long size) {
    Refusal.need(size >= 0 && position <= table - size, "a page before the page table");
    return Bytes.cut(data, position, size);
  }

  /** Returns all rows of a field. */
  Column read(Field field) {
    List<Column> parts = new ArrayList<>();
    for (int batch = 0; batch + 1 < batches.length; batch++) {
      parts.add(read(field, batch, (int) (batches[batch + 1] - batches[batch])));
    }
    return Column.concat(field.type().stored(), parts);
  }

  private Column read(Field field, int batch, int rows) {
    Type type = field.type();
    if (type.name().equals("struct")) {
      List<Column> children = new ArrayList<>();
      for (Field child : type.children()) children.add(read(child, batch, rows));
      return new Column(type, rows, null, null, null, children);
    }
    Page page = page(field, batch, type.isList() ? rows + 1 : rows);
    if (type.name().equals("null")) return Column.nulls(type, rows);
    if (type.isList()) return list(field, batch, rows, page);
    if (type.isVariable()) return strings(data, table, field, rows, page.position);
    if (!type.name().equals("dict")) {
      return plain(type, rows, bytes(page.position, ((long) rows * type.bits() + 7) / 8));
    }
    Type keyType = Type.plain(type.unit(), type.bits());
    Column keys = plain(keyType, rows, bytes(page.position, (long) rows * keyType.width()));
    Column values = dictionary(field);
    int[] positions = new int[rows];
    for (int row = 0; row < rows; row++) {
      long key = keys.integer(row);
      Refusal.need(key >= 0 && key < values.rows(), "a key of a value");
      positions[row] = (int) key;
    }
    return values.take(positions);
  }

  private static Column plain(Type type, int rows, byte[] values) {
    if (type.name().equals("fixed_size_list")) {
      Column items = plain(type.item().type(), Bytes.limited((long) rows * type.size()), values);
      return new Column(type, rows, null, null, null, List.of(items));
    }
    if (type.bits() != 1) return Column.fixed(type, rows, null, values);
    byte[] bools = new byte[rows];
    for (int row = 0; row < rows; row++) bools[row] = (byte) (Bytes.bit(values, row) ? 1 : 0);
    return Column.fixed(type, rows, null, bools);
  }

  /** Returns strings whose n + 1 offsets, from the start of the file, lie at a position. */
  private static Column strings(byte[] data, long end, Field field, int rows, long position) {
    long size = 8L * rows + 8;
    Refusal.need(position >= 0 && position <= end - size, "offsets before what follows them");
    byte[] offsets = Bytes.cut(data, position, size);
    boolean[] valid = new boolean[rows];
    int[] ends = new int[rows + 1];
    long start = Bytes.u64(offsets, 0), last = start;
    for (int row = 0; row < rows; row++) {
      long next = Bytes.u64(offsets, 8L * row + 8);
      Refusal.need(next >= last, "offsets that do not fall");
      valid[row] = next > last || !field.nullable();
      ends[row + 1] = Bytes.limited(next - start);
      last = next;
    }
    Refusal.need(start >= 0 && last <= end, "bytes before the page table");
    byte[] bytes = Bytes.cut(data, start, last - start);
    Column column = new Column(field.type(), rows, valid, bytes, ends, List.of());
    for (int row = 0; row < rows && field.type().isText(); row++) Bytes.text(column.bytes(row));
    return column;
  }

  private Column list(Field field, int batch, int rows, Page page) {
    int width = field.type().isLarge() ? 8 : 4;
    byte[] offsets = bytes(page.position, (long) width * (rows + 1));
    int[] ends = new int[rows + 1];
    for (int row = 0; row <= rows; row++) {
      long end = width == 8 ? Bytes.u64(offsets, 8L * row) : (int) Bytes.u32(offsets, 4L * row);
      boolean rises = row == 0 ? end == 0 : end >= ends[row - 1];
      Refusal.need(rises, "offsets that begin with 0 and do not fall");
      ends[row] = Bytes.limited(end);
    }
    Column items = read(field.type().item(), batch, ends[rows]);
    return new Column(field.type(), rows, null, null, ends, List.of(items));
  }

  /** Returns the values of a dictionary field, which lie in the file that holds the schema. */
  private Column dictionary(Field field) {
    Message place = field.dictionary();
    Refusal.need(place != null, "where the values of a dictionary lie");
    long offset = place.number(1), length = place.number(2);
    int rows = Bytes.limited(length);
    Type type = field.type().item().type();
    long end = manifest.length - 16L;
    if (type.isVariable()) return strings(manifest, end, field.type().item(), rows, offset);
    Refusal.need(type.bits() >= 8, "a dictionary of numbers or strings");
    return plain(type, rows, Bytes.cut(manifest, offset, (long) rows * type.width()));
  }
}
