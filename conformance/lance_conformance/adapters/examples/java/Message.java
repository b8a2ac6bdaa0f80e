import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A protobuf message: its fields by number, each with the wire type it has.
 *
 * <p>Fields that nobody asks for are unknown and passed over; one that is asked for must have the
 * wire type of its kind (L.wire.message).
 */
final class Message {
  private record Part(int wire, long number, byte[] bytes) {}

  private final Map<Integer, List<Part>> fields = new LinkedHashMap<>();
  private final List<Integer> order = new ArrayList<>();
  private final byte[] data;
  private int at;

  private Message(byte[] data) {
    this.data = data;
    while (at < data.length) {
      long tag = varint();
      int field = (int) (tag >>> 3), wire = (int) (tag & 7);
      Refusal.need(tag >>> 32 == 0 && field > 0, "a tag of no field");
      Part part = switch (wire) {
        case 0 -> new Part(0, varint(), null);
        case 1 -> new Part(1, Bytes.u64(data, skip(8)), null);
        case 2 -> {
          long size = varint();
          yield new Part(2, 0, Bytes.cut(data, skip(size), size));
        }
        case 5 -> new Part(5, Bytes.u32(data, skip(4)), null);
        default -> throw Refusal.invalid("wire type " + wire);
      };
      fields.computeIfAbsent(field, key -> new ArrayList<>()).add(part);
      order.add(field);
    }
  }

  static Message of(byte[] data) {
    return new Message(data);
  }

  private int skip(long size) {
    int start = at;
    Refusal.need(size >= 0 && size <= data.length - at, "a field beyond its message");
    at += (int) size;
    return start;
  }

  private long varint() {
    long value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      byte next = data[skip(1)];
      value |= (long) (next & 127) << shift;
      if (next >= 0) return value;
    }
    throw Refusal.invalid("a varint of more than ten bytes");
  }

  private List<Part> parts(int field, int wire) {
    List<Part> found = fields.getOrDefault(field, List.of());
    for (Part part : found) Refusal.need(part.wire == wire, "field " + field + " of another kind");
    return found;
  }

  boolean has(int field) {
    return fields.containsKey(field);
  }

  /** Returns which of the fields of a oneof is set, the last where there are several; 0 for none. */
  int arm(int first, int last) {
    int found = 0;
    for (int field : order) if (field >= first && field <= last) found = field;
    return found;
  }

  long number(int field) {
    List<Part> found = parts(field, 0);
    return found.isEmpty() ? 0 : found.get(found.size() - 1).number;
  }

  int int32(int field) {
    return (int) number(field);
  }

  boolean bool(int field) {
    return number(field) != 0;
  }

  byte[] bytes(int field) {
    List<Part> found = parts(field, 2);
    return found.isEmpty() ? new byte[0] : found.get(found.size() - 1).bytes;
  }

  String text(int field) {
    return Bytes.text(bytes(field));
  }

  /** Returns a message field, an empty message where it is absent; several are one (as protobuf). */
  Message message(int field) {
    var all = new java.io.ByteArrayOutputStream();
    for (Part part : parts(field, 2)) all.writeBytes(part.bytes);
    return of(all.toByteArray());
  }

  List<Message> messages(int field) {
    return parts(field, 2).stream().map(part -> of(part.bytes)).toList();
  }

  /** Returns a repeated field of numbers, packed or one by one. */
  long[] numbers(int field) {
    var found = new ArrayList<Long>();
    for (Part part : fields.getOrDefault(field, List.of())) {
      Refusal.need(part.wire == 0 || part.wire == 2, "numbers of another kind");
      if (part.wire == 0) found.add(part.number);
      if (part.wire != 2) continue;
      Message packed = new Message(part.bytes, 0);
      while (packed.at < packed.data.length) found.add(packed.varint());
    }
    return found.stream().mapToLong(Long::longValue).toArray();
  }

  /** Returns a repeated field of f32, packed or one by one. */
  double[] floats(int field) {
    var all = new java.io.ByteArrayOutputStream();
    for (Part part : fields.getOrDefault(field, List.of())) {
      Refusal.need(part.wire == 5 || part.wire == 2, "floats of another kind");
      all.writeBytes(part.wire == 2 ? part.bytes : Bytes.allocate(4).putInt((int) part.number).array());
    }
    Refusal.need(all.size() % 4 == 0, "floats of four bytes");
    var view = Bytes.view(all.toByteArray());
    return java.util.stream.IntStream.range(0, all.size() / 4)
        .mapToDouble(i -> view.getFloat(4 * i)).toArray();
  }

  private Message(byte[] data, int at) {
    this.data = data;
    this.at = at;
  }

  /** Returns a map field of text to bytes; a later entry takes the place of an earlier one. */
  Map<String, byte[]> map(int field) {
    var found = new LinkedHashMap<String, byte[]>();
    for (Message entry : messages(field)) {
      Refusal.need(entry.fields.keySet().stream().allMatch(key -> key < 3), "more than key and value");
      found.put(entry.text(1), entry.bytes(2));
    }
    return found;
  }
}
