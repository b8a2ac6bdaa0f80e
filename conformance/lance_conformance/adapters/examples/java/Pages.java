import java.util.ArrayList;
import java.util.List;

/** Pages of 2.1 and 2.2 without lists, as index files have them (chapters 30 and 31). */
final class Pages {
  private static final int BLOCK = 1024;

  private final Type type;
  private final boolean wide;
  private final Message layout;
  private final List<byte[]> buffers;
  private final List<Column> values = new ArrayList<>();
  private final List<boolean[]> validity = new ArrayList<>();

  private Pages(Type type, boolean wide, Message layout, List<byte[]> buffers) {
    this.type = type;
    this.wide = wide;
    this.layout = layout;
    this.buffers = buffers;
  }

  /** Returns the rows of a leaf below some structs, all of which must be valid. */
  static Column read(Type type, DataFile file, DataFile.Pages column, int structs) {
    List<Column> parts = new ArrayList<>();
    for (DataFile.Page page : column.pages()) {
      int arm = page.encoding().arm(1, 4);
      if (arm != 1 && arm != 2) throw Refusal.unsupported("full_zip");
      Message layout = page.encoding().message(arm);
      long[] layers = layout.numbers(arm == 1 ? 6 : 5);
      Refusal.need(layers.length > structs, "a layer for each step of the path");
      for (int i = 1; i < layers.length; i++) {
        if (layers[i] != 1) throw Refusal.unsupported("struct");
      }
      var pages = new Pages(type, !file.version.equals("2.1"), layout, page.buffers());
      parts.add(arm == 1 ? pages.miniBlock(page.rows()) : pages.constant(page.rows()));
    }
    return Column.concat(type.stored(), parts);
  }

  private Column constant(int rows) {
    if (buffers.size() > 1 || type.bits() == 1) throw Refusal.unsupported("constant");
    if (buffers.isEmpty() && !layout.has(6)) return Column.nulls(type, rows);
    List<byte[]> parts = layout.has(6) ? List.of(layout.bytes(6)) : arrowBuffers(buffers.get(0));
    int[] ends = null;
    if (type.isVariable()) {
      Refusal.need(parts.size() == 2 && parts.get(0).length == (type.isLarge() ? 16 : 8), "offsets");
      ends = new int[] {0, parts.get(1).length};
    }
    byte[] value = parts.get(parts.size() - 1);
    Refusal.need(ends != null || value.length == type.width(), "a constant of the width of the type");
    return new Column(type, 1, null, value, ends, List.of()).take(new int[rows]);
  }

  /** Returns the Arrow buffers of the one element that a value buffer holds. */
  private static List<byte[]> arrowBuffers(byte[] data) {
    long count = Bytes.u32(data, 0), at = 4 + 4 * count;
    Refusal.need(count > 0 && count < 4, "the buffers of one element");
    List<byte[]> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      parts.add(Bytes.cut(data, at, Bytes.u32(data, 4 + 4L * i)));
      at += parts.get(i).length;
    }
    Refusal.need(at == data.length, "a value buffer that is filled");
    return parts;
  }

  private Column miniBlock(int rows) {
    Refusal.need(buffers.size() >= 2, "chunk words, then chunks");
    if (layout.has(1) || layout.has(4)) throw Refusal.unsupported("dictionary");
    byte[] words = buffers.get(0);
    int width = wide ? 4 : 2, left = Bytes.limited(layout.number(9));
    Refusal.need(words.length > 0 && words.length % width == 0, "a word for each chunk");
    long at = 0;
    for (int i = 0; i < words.length; i += width) {
      long word = wide ? Bytes.u32(words, i) : u16(words, i);
      int log = (int) (word & 15), count = i + width < words.length ? 1 << log : left;
      long size = 8 * ((word >> 4) + 1);
      Refusal.need(count <= left && count <= 32768, "a chunk of its values");
      chunk(Bytes.cut(buffers.get(1), at, size), count);
      left -= count;
      at += size;
    }
    Refusal.need(left == 0 && at == buffers.get(1).length, "chunks that fill their buffer");
    Column all = Column.concat(type, values);
    Refusal.need(all.rows() == rows, "a value for each row");
    boolean[] valid = new boolean[rows];
    int row = 0;
    for (boolean[] part : validity) {
      System.arraycopy(part, 0, valid, row, part.length);
      row += part.length;
    }
    return all.with(type, valid);
  }

  private static int u16(byte[] data, long at) {
    byte[] pair = Bytes.cut(data, at, 2);
    return pair[0] & 0xff | (pair[1] & 0xff) << 8;
  }

  private void chunk(byte[] chunk, int count) {
    int numLevels = u16(chunk, 0), at = 2, parts = (int) layout.number(7);
    Refusal.need(parts >= 0 && parts < 8, "value buffers of a chunk");
    List<Long> sizes = new ArrayList<>();
    if (layout.has(2)) {
      sizes.add((long) u16(chunk, at));
      at += 2;
    }
    for (int i = 0; i < parts; i++) {
      sizes.add(wide ? Bytes.u32(chunk, at) : u16(chunk, at));
      at += wide ? 4 : 2;
    }
    long next = at + 7 & -8;
    List<byte[]> found = new ArrayList<>();
    for (long size : sizes) {
      found.add(Bytes.cut(chunk, next, size));
      next += size + 7 & -8;
    }
    Refusal.need(next == chunk.length, "buffers that fill their chunk");
    boolean[] valid = new boolean[count];
    java.util.Arrays.fill(valid, true);
    if (layout.has(2)) {
      Refusal.need(numLevels == count, "a level for each value");
      Type levelType = Type.plain("uint16", 16);
      Column levels = decode(layout.message(2), levelType, count, block(layout.message(2), found.remove(0)));
      for (int row = 0; row < count; row++) valid[row] = levels.integer(row) == 0;
    }
    validity.add(valid);
    values.add(decode(layout.message(3), type, count, found));
  }

  /** Returns the values of a chunk, or levels, by their `CompressiveEncoding`. */
  private static Column decode(Message encoding, Type type, int count, List<byte[]> buffers) {
    int arm = encoding.arm(1, 15);
    Message body = encoding.message(Math.max(arm, 1));
    if (arm == 8) return runs(body, type, count, buffers);
    if (arm == 11) return fixedSizeList(body, type, count, buffers);
    Refusal.need(buffers.size() == 1, "one buffer of values");
    byte[] data = buffers.get(0);
    return switch (arm) {
      case 1 -> flat(body, type, count, data);
      case 2 -> variable(body, type, count, data);
      case 5 -> {
        int width = (int) body.number(1);
        Refusal.need(width == type.bits() && width >= 8 && count <= BLOCK, "bits of packed values");
        int packed = (int) (width == 8 ? data[0] & 0xff : width == 16 ? u16(data, 0) : Bytes.u32(data, 0));
        Refusal.need(packed <= width, "a packed width");
        byte[] block = Bytes.cut(data, width / 8, data.length - width / 8);
        yield Column.fixed(type, count, null, Codecs.blocks(block, count, packed, width));
      }
      default -> throw Refusal.unsupported("encoding " + arm);
    };
  }

  private static Column flat(Message flat, Type type, int count, byte[] data) {
    Refusal.need(flat.number(1) == type.bits(), "values of the width of the type");
    Refusal.need(data.length == ((long) count * type.bits() + 7) / 8, "a flat buffer of its values");
    if (type.bits() > 1) return Column.fixed(type, count, null, data);
    byte[] values = new byte[count];
    for (int row = 0; row < count; row++) values[row] = (byte) (Bytes.bit(data, row) ? 1 : 0);
    return Column.fixed(type, count, null, values);
  }

  private static Column variable(Message variable, Type type, int count, byte[] data) {
    int width = type.isLarge() ? 8 : 4;
    Refusal.need(type.isVariable(), "strings in a column of " + type.name());
    Refusal.need(variable.message(1).message(1).number(1) == 8 * width, "offsets of their width");
    int[] ends = new int[count + 1];
    long start = (long) width * (count + 1);
    for (int row = 0; row <= count; row++) {
      long end = width == 8 ? Bytes.u64(data, 8L * row) : Bytes.u32(data, 4L * row);
      boolean rises = row == 0 ? end == start : end - start >= ends[row - 1];
      Refusal.need(rises && end <= data.length, "offsets that begin after the table and rise");
      ends[row] = (int) (end - start);
    }
    return new Column(type, count, null, Bytes.cut(data, start, ends[count]), ends, List.of());
  }

  /** Returns the buffers of a block: two where it is of runs, with the size of the first before. */
  private static List<byte[]> block(Message encoding, byte[] data) {
    if (encoding.arm(1, 15) != 8) return List.of(data);
    long size = Bytes.u64(data, 0);
    byte[] values = Bytes.cut(data, 8, size);
    return List.of(values, Bytes.cut(data, 8 + size, data.length - 8 - size));
  }

  private static Column runs(Message rle, Type type, int count, List<byte[]> buffers) {
    Refusal.need(buffers.size() == 2, "run values and run lengths");
    byte[] lengths = buffers.get(1);
    Column values = decode(rle.message(1), type, lengths.length, buffers.subList(0, 1));
    int[] positions = new int[count];
    int row = 0;
    for (int run = 0; run < lengths.length; run++) {
      int length = Math.min(lengths[run] & 0xff, count - row); // what is more is passed over
      java.util.Arrays.fill(positions, row, row += length, run);
    }
    Refusal.need(row == count, "runs of the values of their chunk");
    return values.take(positions);
  }

  private static Column fixedSizeList(Message list, Type type, int count, List<byte[]> buffers) {
    boolean fits = type.name().equals("fixed_size_list") && list.number(1) == type.size();
    Refusal.need(fits, "a fixed-size list of the dimension of the type");
    int items = Bytes.limited((long) count * type.size());
    List<byte[]> rest = new ArrayList<>(buffers);
    Refusal.need(!rest.isEmpty(), "the buffers of a fixed-size list");
    boolean[] valid = list.bool(3) ? Codecs.bits(rest.remove(0), items) : null;
    Column child = decode(list.message(2), type.item().type(), items, rest);
    return new Column(type, count, null, null, null, List.of(child.with(child.type(), valid)));
  }
}
