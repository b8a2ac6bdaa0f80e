import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The values of one page of 2.0, by its tree of `lance.encodings.ArrayEncoding` (chapter 20). */
final class Encodings {
  static final Type UINT64 = Type.plain("uint64", 64);
  private static final Type BINARY = Type.plain("large_binary", -1);

  private final List<byte[]> pageBuffers;
  private final List<byte[]> columnBuffers;
  private final Set<Long> used = new HashSet<>();

  Encodings(List<byte[]> pageBuffers, List<byte[]> columnBuffers) {
    this.pageBuffers = pageBuffers;
    this.columnBuffers = columnBuffers;
  }

  private byte[] buffer(Message buffer) {
    long index = buffer.number(1), kind = buffer.number(2);
    Refusal.need(kind == 0 || kind == 1, "a buffer of the page or the column");
    List<byte[]> buffers = kind == 0 ? pageBuffers : columnBuffers;
    Refusal.need(index >= 0 && index < buffers.size(), "a buffer index of a buffer");
    Refusal.need(kind == 1 || used.add(index), "two parts that name one buffer");
    return buffers.get((int) index);
  }

  /** Returns the rows of an encoding. A dictionary is what it decodes to. */
  Column decode(Message encoding, Type type, int rows) {
    int arm = encoding.arm(1, Integer.MAX_VALUE);
    Message body = arm == 0 ? encoding : encoding.message(arm);
    return switch (arm) {
      case 1 -> flat(body, type, rows);
      case 2 -> nullable(body, type, rows);
      case 3 -> fixedSizeList(body, type, rows);
      case 6 -> binary(body, type, rows);
      case 7 -> dictionary(body, type, rows);
      case 8 -> fsst(body, type, rows);
      case 9 -> packedStruct(body, type, rows);
      case 10, 12 -> bitpacked(arm, body, type, rows);
      case 11 -> fixedSizeBinary(body, type, rows);
      default -> throw Refusal.invalid("arm " + arm + " of an encoding here");
    };
  }

  private Column flat(Message flat, Type type, int rows) {
    long bits = flat.number(1);
    Refusal.need(bits == 1 || bits > 0 && bits % 8 == 0, "values of one bit or whole bytes");
    boolean fits = bits == type.bits() && !type.name().equals("fixed_size_list");
    Refusal.need(fits, "values of the width of " + type.name());
    long size = (rows * bits + 7) / 8;
    byte[] data = raw(flat, size);
    Refusal.need(data.length == size, "a flat buffer has its values");
    if (bits > 1) return Column.fixed(type, rows, null, data);
    byte[] values = new byte[rows];
    for (int row = 0; row < rows; row++) values[row] = (byte) (Bytes.bit(data, row) ? 1 : 0);
    return Column.fixed(type, rows, null, values);
  }

  /** Returns the bytes of a flat buffer; `size` is what they must be once decompressed, -1 any. */
  private byte[] raw(Message flat, long size) {
    byte[] data = buffer(flat.message(2));
    String scheme = flat.message(3).text(1);
    if (!flat.has(3) || scheme.equals("none")) return data;
    return Codecs.decompress(scheme, data, size);
  }

  private Column nullable(Message nullable, Type type, int rows) {
    int arm = nullable.arm(1, 3);
    Refusal.need(arm != 0, "a nullable without an arm");
    Message body = nullable.message(arm);
    if (arm == 3) return Column.nulls(type.stored(), rows);
    if (arm == 1) return decode(body.message(1), type, rows);
    Message flat = body.message(1).message(1);
    Refusal.need(body.message(1).arm(1, 21) == 1 && flat.number(1) == 1, "validity of one bit");
    boolean[] valid = Codecs.bits(raw(flat, (rows + 7) / 8), rows);
    Column values = decode(body.message(2), type, rows);
    for (int row = 0; row < rows; row++) valid[row] &= values.isValid(row);
    return values.with(values.type(), valid);
  }

  private Column fixedSizeList(Message list, Type type, int rows) {
    boolean fits = type.name().equals("fixed_size_list") && list.number(1) == type.size();
    Refusal.need(fits, "a fixed-size list of the dimension of the type");
    int items = Bytes.limited((long) rows * type.size());
    Column child = decode(list.message(2), type.item().type(), items);
    return new Column(type, rows, null, null, null, List.of(child));
  }

  private Column binary(Message binary, Type type, int rows) {
    Refusal.need(type.isVariable(), "strings in a column of " + type.name());
    Message flat = binary.message(2).message(1);
    boolean fits = binary.message(2).arm(1, 21) == 1 && flat.number(1) == 8;
    Refusal.need(fits, "bytes of strings that are flat, of 8 bits");
    byte[] data = raw(flat, -1);
    Column stored = ends(binary.message(1), rows);
    boolean[] valid = new boolean[rows];
    int[] ends = ends(stored, binary.number(3), data.length, valid);
    byte[] bytes = Bytes.cut(data, 0, ends[rows]);
    return new Column(type, rows, valid, bytes, ends, List.of());
  }

  /** Returns the stored ends of strings or lists. */
  Column ends(Message encoding, int rows) {
    Column stored = decode(encoding, UINT64, rows);
    Refusal.need(!stored.hasNulls(), "an end that is null");
    return stored;
  }

  /** Returns the ends of the rows, from 0 on, with the null adjustment off; fills in validity. */
  static int[] ends(Column stored, long adjustment, long bound, boolean[] valid) {
    int[] ends = new int[valid.length + 1];
    for (int row = 0; row < valid.length; row++) {
      long end = stored.integer(row);
      valid[row] = Long.compareUnsigned(end, adjustment) < 0;
      if (!valid[row]) end -= adjustment;
      Refusal.need(end >= ends[row] && end <= bound, "ends that rise inside the page");
      Refusal.need(Long.compareUnsigned(end, adjustment) < 0, "an adjustment above every end");
      ends[row + 1] = (int) end;
    }
    return ends;
  }

  private Column dictionary(Message dictionary, Type type, int rows) {
    boolean arrow = type.name().equals("dict");
    Refusal.need(arrow || type.isVariable(), "a dictionary in a column of " + type.name());
    Type keyType = arrow ? Type.plain(type.unit(), type.bits()) : Type.plain("uint8", 8);
    Column keys = decode(dictionary.message(1), keyType, rows);
    int count = Bytes.limited(dictionary.number(3));
    Column items = decode(dictionary.message(2), type.stored(), count);
    int[] positions = new int[rows];
    for (int row = 0; row < rows; row++) {
      long key = arrow ? keys.integer(row) : keys.integer(row) - 1;
      if (!keys.isValid(row)) key = -1;
      else Refusal.need(key < count && key >= (arrow ? 0 : -1), "a key of no item");
      positions[row] = (int) key;
    }
    return items.take(positions);
  }

  private Column fsst(Message fsst, Type type, int rows) {
    Message inner = fsst.message(1);
    boolean fits = inner.arm(1, 21) == 6 && type.isVariable();
    Refusal.need(fits, "codes of strings that are binary");
    Column codes = binary(inner.message(6), BINARY, rows);
    return Codecs.fsst(codes, fsst.bytes(2)).with(type, codes.valid());
  }

  private Column packedStruct(Message struct, Type type, int rows) {
    Refusal.need(type.name().equals("struct"), "packed rows in a column of " + type.name());
    List<Message> inner = struct.messages(1);
    Refusal.need(inner.size() == type.children().size(), "an inner encoding for each field");
    int width = 0;
    for (int i = 0; i < inner.size(); i++) {
      int bits = type.children().get(i).type().bits();
      boolean fits = bits > 0 && bits % 8 == 0 && width(inner.get(i), 0) == bits;
      Refusal.need(fits, "a packed field of the width of its type");
      width += bits / 8;
    }
    byte[] data = buffer(struct.message(2));
    Refusal.need(data.length == (long) rows * width, "the bytes of packed rows");
    List<Column> fields = new ArrayList<>();
    int at = 0;
    for (Field field : type.children()) {
      int size = field.type().bits() / 8;
      byte[] values = new byte[rows * size];
      for (int row = 0; row < rows; row++) {
        System.arraycopy(data, row * width + at, values, row * size, size);
      }
      fields.add(ofBytes(field.type(), rows, values));
      at += size;
    }
    return new Column(type, rows, null, null, null, fields);
  }

  /** Returns values of fixed width from their bytes, items of fixed-size lists included. */
  private static Column ofBytes(Type type, int rows, byte[] values) {
    if (!type.name().equals("fixed_size_list")) return Column.fixed(type, rows, null, values);
    Refusal.need(type.item().type().bits() % 8 == 0, "a packed field of bits");
    Column items = ofBytes(type.item().type(), rows * type.size(), values);
    return new Column(type, rows, null, null, null, List.of(items));
  }

  /** Returns the bits that an encoding says a value has, 0 where it says none. */
  private static long width(Message encoding, int depth) {
    Refusal.need(depth < 32, "encodings nested too deep");
    int arm = encoding.arm(1, 21);
    Message body = encoding.message(arm == 0 ? 1 : arm);
    return switch (arm) {
      case 1 -> body.number(1);
      case 2 -> body.arm(1, 3) == 1 ? width(body.message(1).message(1), depth + 1) : 0;
      case 3 -> (int) body.number(1) * width(body.message(2), depth + 1);
      default -> 0;
    };
  }

  private Column bitpacked(int arm, Message packed, Type type, int rows) {
    long bits = packed.number(1), width = packed.number(2);
    boolean fits = width == type.bits() && width >= 8 && width <= 64 && (width & width - 1) == 0;
    Refusal.need(fits && bits >= 1 && bits <= width, "bits of packed values");
    byte[] data = buffer(packed.message(3));
    byte[] values = arm == 12 ? Codecs.blocks(data, rows, (int) bits, (int) width)
        : Codecs.packedBits(data, rows, (int) bits, (int) width, packed.bool(4));
    return Column.fixed(type, rows, null, values);
  }

  /** Returns values of one width: of fixed_size_binary, or strings that are all as long. */
  private Column fixedSizeBinary(Message binary, Type type, int rows) {
    int width = Bytes.limited(binary.number(2));
    boolean fits = type.name().equals("fixed_size_binary") && width == type.size();
    Refusal.need(fits || type.isVariable() && width > 0, "bytes of the width of the type");
    Message flat = binary.message(1).message(1);
    Refusal.need(binary.message(1).arm(1, 21) == 1 && flat.number(1) == 8, "bytes that are flat");
    byte[] data = raw(flat, (long) rows * width);
    Refusal.need(data.length == (long) rows * width, "bytes of the values");
    if (fits) return Column.fixed(type, rows, null, data);
    int[] ends = new int[rows + 1];
    for (int row = 0; row < rows; row++) ends[row + 1] = ends[row] + width;
    return new Column(type, rows, null, data, ends, List.of());
  }
}
