import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Arrow IPC files: columns are written to one, deleted rows are read from one. */
final class Arrow {
  private static final List<String> UNITS = List.of("s", "ms", "us", "ns");

  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private final ByteArrayOutputStream nodes = new ByteArrayOutputStream();
  private final ByteArrayOutputStream buffers = new ByteArrayOutputStream();

  private Arrow() {}

  /** Writes one batch of columns under the names of their fields. */
  static void write(Path path, List<Field> fields, List<Column> columns, int rows) {
    var arrow = new Arrow();
    List<Flat.Table> described = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      described.add(field(fields.get(i), columns.get(i)));
      arrow.column(columns.get(i));
    }
    var schema = new Flat.Table(null, described);
    var batch = new Flat.Table((long) rows, structs(arrow.nodes, 16), structs(arrow.buffers, 16));
    var out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {'A', 'R', 'R', 'O', 'W', '1', 0, 0});
    message(out, 1, schema, 0);
    int start = out.size();
    message(out, 3, batch, arrow.body.size());
    int size = out.size() - start;
    out.writeBytes(arrow.body.toByteArray());
    out.writeBytes(Bytes.allocate(8).putInt(-1).array());
    ByteBuffer block = Bytes.allocate(24);
    block.putLong(start).putInt(size).putInt(0).putLong(arrow.body.size());
    var blocks = new Flat.Structs(1, block.array());
    byte[] footer = Flat.write(new Flat.Table((short) 4, schema, null, blocks));
    out.writeBytes(footer);
    out.writeBytes(Bytes.allocate(4).putInt(footer.length).array());
    out.writeBytes(new byte[] {'A', 'R', 'R', 'O', 'W', '1'});
    try {
      Files.write(path, out.toByteArray());
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  private static Flat.Structs structs(ByteArrayOutputStream data, int size) {
    return new Flat.Structs(data.size() / size, data.toByteArray());
  }

  private static void message(ByteArrayOutputStream out, int kind, Flat.Table header, long body) {
    byte[] data = Flat.write(new Flat.Table((short) 4, (byte) kind, header, body));
    out.writeBytes(Bytes.allocate(8).putInt(-1).putInt(data.length).array());
    out.writeBytes(data);
  }

  private static Flat.Table field(Field field, Column column) {
    List<Flat.Table> children = new ArrayList<>();
    for (int i = 0; i < column.children().size(); i++) {
      children.add(field(field.type().children().get(i), column.children().get(i)));
    }
    Object[] type = type(column.type());
    byte nullable = (byte) (field.nullable() ? 1 : 0);
    return new Flat.Table(field.name(), nullable, type[0], type[1], null, children);
  }

  private static Object[] kind(int kind, Object... slots) {
    return new Object[] {(byte) kind, new Flat.Table(slots)};
  }

  /** Returns the number of a type in the union of Arrow, and its table. */
  private static Object[] type(Type type) {
    short unit = (short) UNITS.indexOf(type.unit());
    return switch (type.name()) {
      case "null" -> kind(1);
      case "int8", "int16", "int32", "int64" -> kind(2, type.bits(), (byte) 1);
      case "uint8", "uint16", "uint32", "uint64" -> kind(2, type.bits(), (byte) 0);
      case "halffloat", "float", "double" -> kind(3, (short) (type.bits() / 32));
      case "binary" -> kind(4);
      case "string" -> kind(5);
      case "bool" -> kind(6);
      case "decimal" -> kind(7, type.precision(), type.scale(), type.bits());
      case "date32", "date64" -> kind(8, (short) (type.bits() / 32 - 1));
      case "time32", "time64" -> kind(9, unit, type.bits());
      case "timestamp" -> kind(10, unit, type.zone().isEmpty() ? null : type.zone());
      case "list" -> kind(12);
      case "struct" -> kind(13);
      case "fixed_size_binary" -> kind(15, type.size());
      case "fixed_size_list" -> kind(16, type.size());
      case "duration" -> kind(18, unit);
      case "large_binary", "json" -> kind(19);
      case "large_string" -> kind(20);
      case "large_list" -> kind(21);
      default -> throw new IllegalStateException(type.name());
    };
  }

  private void column(Column column) {
    int nulls = 0;
    byte[] validity = new byte[(column.rows() + 7) / 8];
    for (int row = 0; row < column.rows(); row++) {
      if (column.isValid(row)) validity[row / 8] |= (byte) (1 << row % 8);
      else nulls++;
    }
    boolean none = column.type().name().equals("null");
    nodes.writeBytes(Bytes.allocate(16).putLong(column.rows())
        .putLong(none ? column.rows() : nulls).array());
    if (none) return;
    buffer(validity);
    if (column.ends() != null) {
      ByteBuffer ends = Bytes.allocate((column.type().isLarge() ? 8L : 4L) * column.ends().length);
      for (int end : column.ends()) {
        if (column.type().isLarge()) ends.putLong(end);
        else ends.putInt(end);
      }
      buffer(ends.array());
    }
    if (column.type().bits() == 1) buffer(bitmap(column.data()));
    else if (column.children().isEmpty() && !column.type().name().equals("struct")) {
      buffer(column.data());
    }
    for (Column child : column.children()) column(child);
  }

  private static byte[] bitmap(byte[] values) {
    byte[] bits = new byte[(values.length + 7) / 8];
    for (int i = 0; i < values.length; i++) bits[i / 8] |= (byte) (values[i] << i % 8);
    return bits;
  }

  private void buffer(byte[] data) {
    buffers.writeBytes(Bytes.allocate(16).putLong(body.size()).putLong(data.length).array());
    body.writeBytes(data);
    body.writeBytes(new byte[-data.length & 7]);
  }

  /** Returns the rows that an `.arrow` deletion file lists (chapter 45). */
  static long[] deletedRows(byte[] data) {
    int size = data.length;
    boolean arrow = size > 20 && new String(data, 0, 6).equals("ARROW1");
    Refusal.need(arrow && new String(data, size - 6, 6).equals("ARROW1"), "an Arrow file");
    long footerSize = Bytes.u32(data, size - 10);
    var footer = Flat.Reader.root(Bytes.cut(data, size - 10 - footerSize, footerSize));
    Flat.Reader schema = footer.table(1);
    Refusal.need(schema.count(1) == 1, "one column of deleted rows");
    Flat.Reader field = schema.element(1, 0);
    boolean uint32 = field.u8(2) == 2 && field.table(3).i32(0) == 32 && field.table(3).u8(1) == 0;
    Refusal.need(uint32 && field.text(0).equals("row_id"), "row_id of type uint32");
    var rows = new ArrayList<Long>();
    for (int i = 0; i < footer.count(3); i++) {
      long block = footer.struct(3, i, 24);
      long start = Bytes.u64(footer.data(), block), meta = Bytes.u32(footer.data(), block + 8);
      Flat.Reader batch = batch(Bytes.cut(data, start, meta));
      boolean whole = batch.count(1) == 1 && batch.count(2) == 2;
      Refusal.need(whole && Bytes.u64(batch.data(), batch.struct(1, 0, 16) + 8) == 0, "no nulls");
      long values = batch.struct(2, 1, 16), count = batch.i64(0);
      byte[] list = Bytes.cut(data, start + meta + Bytes.u64(batch.data(), values),
          Bytes.u64(batch.data(), values + 8));
      if (batch.has(3)) list = decompressed(list, batch.table(3).u8(0));
      Refusal.need(count >= 0 && count <= list.length / 4, "a value for each row");
      for (int row = 0; row < count; row++) rows.add(Bytes.u32(list, 4L * row));
    }
    return rows.stream().mapToLong(Long::longValue).toArray();
  }

  /** Returns the bytes of a buffer of a compressed body: a size, -1 for bytes as they are. */
  private static byte[] decompressed(byte[] buffer, int codec) {
    if (buffer.length == 0) return buffer;
    long size = Bytes.u64(buffer, 0);
    byte[] rest = Bytes.cut(buffer, 8, buffer.length - 8L);
    if (size == -1) return rest;
    if (codec != 1) throw Refusal.unsupported("lz4 frames");
    byte[] found = Zstd.decompress(rest);
    Refusal.need(found.length == size, "a buffer of the size stated before it");
    return found;
  }

  private static Flat.Reader batch(byte[] message) {
    int prefix = Bytes.u32(message, 0) == 0xffffffffL ? 8 : 4;
    var header = Flat.Reader.root(Bytes.cut(message, prefix, message.length - prefix));
    Refusal.need(header.u8(1) == 3, "a record batch");
    return header.table(2);
  }
}
