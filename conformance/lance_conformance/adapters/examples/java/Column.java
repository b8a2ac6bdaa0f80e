import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Values in memory, laid out as Arrow has them, but for booleans, which take a byte each.
 *
 * @param valid which rows are not null; null where all are
 * @param data the values of fixed width, or the bytes of strings
 * @param ends rows + 1 positions in `data` or the items, from 0; null for other types
 */
record Column(
    Type type, int rows, boolean[] valid, byte[] data, int[] ends, List<Column> children) {

  static Column fixed(Type type, int rows, boolean[] valid, byte[] data) {
    return new Column(type, rows, valid, data, null, List.of());
  }

  Column with(Type other, boolean[] validity) {
    return new Column(other, rows, validity, data, ends, children);
  }

  boolean isValid(int row) {
    return valid == null || valid[row];
  }

  boolean hasNulls() {
    if (type.name().equals("null")) return rows > 0;
    for (int row = 0; row < rows; row++) if (!isValid(row)) return true;
    return false;
  }

  byte[] bytes(int row) {
    int width = type.width();
    if (ends != null) return Arrays.copyOfRange(data, ends[row], ends[row + 1]);
    return Arrays.copyOfRange(data, row * width, (row + 1) * width);
  }

  /** Returns a value of an integer type; one of uint64 above 2**63 is negative. */
  long integer(int row) {
    var view = Bytes.view(data);
    return switch (type.name()) {
      case "bool", "uint8" -> view.get(row) & 0xff;
      case "int8" -> view.get(row);
      case "uint16" -> view.getShort(2 * row) & 0xffff;
      case "int16" -> view.getShort(2 * row);
      case "uint32" -> view.getInt(4 * row) & 0xffffffffL;
      case "int32", "date32", "time32" -> view.getInt(4 * row);
      default -> view.getLong(8 * row);
    };
  }

  /** Returns a value as filters see it: Long, Double, String, Boolean, or null. */
  Object value(int row) {
    if (!isValid(row)) return null;
    var view = Bytes.view(data == null ? new byte[0] : data);
    return switch (type.name()) {
      case "bool" -> data[row] != 0;
      case "halffloat", "float", "double" -> number(row);
      case "string", "large_string" -> Bytes.text(bytes(row));
      case "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32" -> integer(row);
      case "uint64" -> {
        if (view.getLong(8 * row) < 0) throw Refusal.unsupported("sql");
        yield integer(row);
      }
      default -> throw Refusal.unsupported("sql");
    };
  }

  /** Returns a value of a type of floats, or of uint8. */
  double number(int row) {
    var view = Bytes.view(data);
    return switch (type.bits()) {
      case 8 -> data[row] & 0xff;
      case 16 -> half(view.getShort(2 * row));
      case 32 -> view.getFloat(4 * row);
      default -> view.getDouble(8 * row);
    };
  }

  /** Returns the number that sixteen bits of a half float stand for. */
  static double half(short bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 0 ? fraction * 0x1p-24 : (1024 + fraction) * Math.pow(2, exponent - 25);
    if (exponent == 31) size = fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
    return bits < 0 ? -size : size;
  }

  /** Returns the rows at some positions, where -1 stands for a null. */
  Column take(int[] positions) {
    boolean[] validity = new boolean[positions.length];
    for (int i = 0; i < positions.length; i++) {
      validity[i] = positions[i] >= 0 && isValid(positions[i]);
    }
    if (type.name().equals("fixed_size_list")) {
      int[] items = new int[Bytes.limited((long) positions.length * type.size())];
      for (int i = 0; i < items.length; i++) {
        int row = positions[i / type.size()];
        items[i] = row < 0 ? -1 : row * type.size() + i % type.size();
      }
      return with(positions.length, validity, null, null, List.of(children.get(0).take(items)));
    }
    if (ends != null) return takeRagged(positions, validity);
    byte[] taken = null;
    if (data != null) {
      int width = type.width();
      taken = new byte[Bytes.limited((long) positions.length * width)];
      for (int i = 0; i < positions.length; i++) {
        if (positions[i] >= 0) {
          System.arraycopy(data, positions[i] * width, taken, i * width, width);
        }
      }
    }
    List<Column> fields = children.stream().map(child -> child.take(positions)).toList();
    return with(positions.length, validity, taken, null, fields);
  }

  private Column takeRagged(int[] positions, boolean[] validity) {
    int[] to = new int[positions.length + 1];
    for (int i = 0; i < positions.length; i++) {
      int size = validity[i] ? ends[positions[i] + 1] - ends[positions[i]] : 0;
      to[i + 1] = Bytes.limited((long) to[i] + size);
    }
    int[] items = new int[type.isList() ? to[positions.length] : 0];
    byte[] bytes = type.isList() ? null : new byte[to[positions.length]];
    for (int i = 0; i < positions.length; i++) {
      int size = to[i + 1] - to[i];
      if (bytes != null && size > 0) System.arraycopy(data, ends[positions[i]], bytes, to[i], size);
      for (int k = 0; k < size && bytes == null; k++) items[to[i] + k] = ends[positions[i]] + k;
    }
    List<Column> below = children.stream().map(child -> child.take(items)).toList();
    return with(positions.length, validity, bytes, to, below);
  }

  private Column with(int count, boolean[] validity, byte[] bytes, int[] to, List<Column> below) {
    return new Column(type, count, validity, bytes, to, below);
  }

  /** Returns the rows of several columns of one type, one after the other. */
  static Column concat(Type type, List<Column> parts) {
    if (parts.size() == 1) return parts.get(0);
    long count = 0, size = 0;
    for (Column part : parts) {
      count += part.rows;
      size += part.data == null ? 0 : part.data.length;
    }
    int rows = Bytes.limited(count), row = 0, byteAt = 0;
    boolean ragged = type.isVariable() || type.isList();
    boolean[] validity = new boolean[rows];
    byte[] data = new byte[Bytes.limited(size)];
    int[] ends = ragged ? new int[rows + 1] : null;
    for (Column part : parts) {
      for (int i = 0; i < part.rows; i++) {
        validity[row + i] = part.isValid(i);
        if (ragged) ends[row + i + 1] = ends[row] + part.ends[i + 1];
      }
      int length = part.data == null ? 0 : part.data.length;
      if (length > 0) System.arraycopy(part.data, 0, data, byteAt, length);
      row += part.rows;
      byteAt += length;
    }
    var below = new ArrayList<Column>();
    for (int i = 0; i < type.children().size() && !type.name().equals("dict"); i++) {
      int child = i;
      Type inner = type.children().get(i).type().stored();
      below.add(concat(inner, parts.stream().map(part -> part.children.get(child)).toList()));
    }
    return new Column(type, rows, validity, data, ends, below);
  }

  /** Returns a column of nulls. */
  static Column nulls(Type type, int rows) {
    return concat(type, List.of()).take(filled(rows));
  }

  private static int[] filled(int rows) {
    int[] positions = new int[Bytes.limited(rows)];
    Arrays.fill(positions, -1);
    return positions;
  }
}
