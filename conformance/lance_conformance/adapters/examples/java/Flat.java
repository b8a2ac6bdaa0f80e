import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * FlatBuffers, as far as Arrow needs them. A table is written from a list of slots: null, Byte,
 * Short, Integer, Long, String, `Table`, a list of tables, or `Structs`.
 */
final class Flat {
  record Table(Object... slots) {}

  /** A vector of structs of some bytes each, aligned to eight. */
  record Structs(int count, byte[] data) {}

  private ByteBuffer out = Bytes.view(new byte[1024]);

  private Flat() {}

  /** Returns a buffer whose root is a table, padded to a multiple of eight bytes. */
  static byte[] write(Table root) {
    var flat = new Flat();
    flat.room(8);
    int start = flat.table(root);
    flat.out.putInt(0, start);
    flat.align(8);
    return java.util.Arrays.copyOf(flat.out.array(), flat.out.position());
  }

  private int room(int size) {
    int start = out.position();
    if (out.remaining() < size) {
      ByteBuffer larger = Bytes.view(new byte[2 * (start + size)]);
      out = larger.put(out.array(), 0, start);
    }
    out.position(start + size);
    return start;
  }

  private void align(int size) {
    room(-out.position() & size - 1);
  }

  /** Writes a table after its vtable, then what its slots refer to. Returns its position. */
  private int table(Table table) {
    Object[] slots = table.slots;
    align(8);
    int vtable = room(4 + 2 * slots.length), size = 4;
    int[] places = new int[slots.length];
    for (int i = 0; i < slots.length; i++) {
      int width = width(slots[i]);
      if (width == 0) continue;
      size = size + width - 1 & -width;
      places[i] = size;
      size += width;
    }
    align(8);
    int start = room(size);
    out.putShort(vtable, (short) (4 + 2 * slots.length)).putShort(vtable + 2, (short) size);
    out.putInt(start, start - vtable);
    for (int i = 0; i < slots.length; i++) {
      if (places[i] == 0) continue;
      out.putShort(vtable + 4 + 2 * i, (short) places[i]);
      int at = start + places[i];
      if (slots[i] instanceof Byte value) out.put(at, value);
      else if (slots[i] instanceof Short value) out.putShort(at, value);
      else if (slots[i] instanceof Integer value) out.putInt(at, value);
      else if (slots[i] instanceof Long value) out.putLong(at, value);
      else {
        int target = reference(slots[i]);
        out.putInt(at, target - at);
      }
    }
    return start;
  }

  private static int width(Object slot) {
    if (slot == null) return 0;
    if (slot instanceof Byte) return 1;
    if (slot instanceof Short) return 2;
    return slot instanceof Long ? 8 : 4;
  }

  private int reference(Object slot) {
    if (slot instanceof Table table) return table(table);
    if (slot instanceof String text) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      align(4);
      int start = room(4 + bytes.length + 1);
      out.putInt(start, bytes.length).put(start + 4, bytes);
      return start;
    }
    if (slot instanceof Structs structs) {
      align(8);
      int start = room(8 + structs.data.length) + 4;
      out.putInt(start, structs.count).put(start + 4, structs.data);
      return start;
    }
    List<?> tables = (List<?>) slot;
    align(4);
    int start = room(4 + 4 * tables.size());
    out.putInt(start, tables.size());
    for (int i = 0; i < tables.size(); i++) {
      int at = start + 4 + 4 * i, target = table((Table) tables.get(i));
      out.putInt(at, target - at);
    }
    return start;
  }

  /** A table that is read: where it lies in which bytes. */
  record Reader(byte[] data, long at) {
    static Reader root(byte[] data) {
      return new Reader(data, Bytes.u32(data, 0));
    }

    /** Returns where a slot lies, 0 when it is absent. */
    private long slot(int index) {
      long vtable = at - (int) Bytes.u32(data, at);
      long size = Bytes.u32(data, vtable) & 0xffff;
      if (4 + 2 * index >= size) return 0;
      byte[] place = Bytes.cut(data, vtable + 4 + 2L * index, 2);
      int offset = place[0] & 0xff | (place[1] & 0xff) << 8;
      return offset == 0 ? 0 : at + offset;
    }

    int u8(int index) {
      return slot(index) == 0 ? 0 : Bytes.cut(data, slot(index), 1)[0] & 0xff;
    }

    long i64(int index) {
      return slot(index) == 0 ? 0 : Bytes.u64(data, slot(index));
    }

    int i32(int index) {
      return slot(index) == 0 ? 0 : (int) Bytes.u32(data, slot(index));
    }

    private long target(int index) {
      long place = slot(index);
      Refusal.need(place != 0, "a flatbuffer without a part it needs");
      return place + Bytes.u32(data, place);
    }

    boolean has(int index) {
      return slot(index) != 0;
    }

    Reader table(int index) {
      return new Reader(data, target(index));
    }

    String text(int index) {
      long start = target(index);
      return Bytes.text(Bytes.cut(data, start + 4, Bytes.u32(data, start)));
    }

    int count(int index) {
      return Bytes.limited(Bytes.u32(data, target(index)));
    }

    /** Returns where an element of a vector of structs lies. */
    long struct(int index, int element, int size) {
      return target(index) + 4 + (long) element * size;
    }

    Reader element(int index, int element) {
      long place = target(index) + 4 + 4L * element;
      return new Reader(data, place + Bytes.u32(data, place));
    }
  }
}
