import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Documents of json columns as text (chapter 33). Integers in here are big-endian. */
final class Jsonb {
  private final byte[] data;

  private Jsonb(byte[] data) {
    this.data = data;
  }

  /** Returns a column of documents as a column of their texts; one of no bytes is null. */
  static Column texts(Column documents) {
    var out = new java.io.ByteArrayOutputStream();
    boolean[] valid = new boolean[documents.rows()];
    int[] ends = new int[documents.rows() + 1];
    for (int row = 0; row < documents.rows(); row++) {
      byte[] document = documents.bytes(row);
      valid[row] = documents.isValid(row) && document.length > 0;
      if (valid[row]) out.writeBytes(text(document).getBytes(StandardCharsets.UTF_8));
      ends[row + 1] = Bytes.limited(out.size());
    }
    Type type = Type.of("string", List.of());
    return new Column(type, documents.rows(), valid, out.toByteArray(), ends, List.of());
  }

  private static String text(byte[] document) {
    var one = new Jsonb(document);
    if (one.u32(0) >>> 29 != 1) return one.container(0, document.length, 0);
    Refusal.need((one.u32(0) & 0x1fffffff) == 0, "a lone value of 0 items");
    int entry = one.u32(4);
    Refusal.need(document.length - 8 == (entry & 0xfffffff), "a lone value that is all there is");
    return one.value(entry, 8, 0);
  }

  private int u32(int at) {
    return Integer.reverseBytes((int) Bytes.u32(data, at));
  }

  private String container(int at, int end, int depth) {
    Refusal.need(end - at >= 4 && depth < 100, "a container with its header");
    int kind = u32(at) >>> 29, count = u32(at) & 0x1fffffff;
    Refusal.need(kind == 4 || kind == 2, "a container that is an array or an object");
    int words = (kind == 2 ? 2 : 1) * count, payload = at + 4 + 4 * words;
    Refusal.need(count <= data.length && payload <= end, "the words of all items");
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < words; i++) {
      int entry = u32(at + 4 + 4 * i), size = entry & 0xfffffff;
      Refusal.need(size <= end - payload, "a payload inside its container");
      Refusal.need(kind == 4 || i >= count || entry >>> 28 == 1, "a key that is a string");
      texts.add(value(entry, payload, depth + 1));
      payload += size;
    }
    Refusal.need(payload == end, "bytes after the last payload");
    if (kind == 4) return "[" + String.join(",", texts) + "]";
    List<String> members = new ArrayList<>();
    for (int i = 0; i < count; i++) members.add(texts.get(i) + ":" + texts.get(count + i));
    return "{" + String.join(",", members) + "}";
  }

  private String value(int entry, int at, int depth) {
    int kind = entry >>> 28, size = entry & 0xfffffff;
    boolean empty = kind == 0 || kind == 3 || kind == 4;
    Refusal.need(!empty || size == 0, "a literal without bytes");
    return switch (kind) {
      case 0 -> "null";
      case 1 -> quoted(Bytes.text(Bytes.cut(data, at, size)));
      case 2 -> number(Bytes.cut(data, at, size));
      case 3 -> "false";
      case 4 -> "true";
      case 5 -> container(at, at + size, depth);
      case 6 -> throw Refusal.unsupported("json");
      default -> throw Refusal.invalid("an item of no type");
    };
  }

  private static String quoted(String text) {
    var found = new StringBuilder("\"");
    for (char next : text.toCharArray()) {
      int short_ = "\"\\\b\f\n\r\t".indexOf(next);
      if (short_ >= 0) found.append('\\').append("\"\\bfnrt".charAt(short_));
      else if (next < 32) found.append(String.format("\\u%04x", (int) next));
      else found.append(next);
    }
    return found.append('"').toString();
  }

  private static String number(byte[] data) {
    Refusal.need(data.length > 0, "a number without its first byte");
    int kind = data[0] & 0xff, size = data.length - 1;
    boolean integer = kind == 0x40 || kind == 0x50;
    boolean fits = integer ? size == 1 || size == 2 || size == 4 || size == 8
        : kind == 0x60 ? size == 8 : kind == 0x70 ? size == 9 || size == 17 || size == 33 : size == 0;
    Refusal.need(fits, "a number of its size");
    long value = kind == 0x40 && data[Math.min(1, size)] < 0 ? -1 : 0;
    for (int i = 1; i <= size; i++) value = value << 8 | data[i] & 0xff;
    return switch (kind) {
      case 0 -> "0";
      case 0x10, 0x20, 0x30 -> "null";
      case 0x40 -> Long.toString(value);
      case 0x50 -> Long.toUnsignedString(value);
      case 0x60 -> decimal(Double.longBitsToDouble(value));
      case 0x70 -> throw Refusal.unsupported("json");
      default -> throw Refusal.invalid("a number of no kind");
    };
  }

  /** Returns a double by the fewest digits that name it. */
  private static String decimal(double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) return "null";
    String text = "";
    for (int digits = 0; digits < 17; digits++) {
      text = String.format(java.util.Locale.ROOT, "%." + digits + "e", value);
      if (Double.parseDouble(text) == value) break;
    }
    int split = text.indexOf('e'), exponent = Integer.parseInt(text.substring(split + 1));
    if (exponent >= 16 || value != 0 && exponent < -5) {
      return text.substring(0, split + 1) + (exponent > 0 ? "+" : "") + exponent;
    }
    String plain = new java.math.BigDecimal(text).toPlainString();
    return plain.contains(".") ? plain : plain + ".0";
  }
}
