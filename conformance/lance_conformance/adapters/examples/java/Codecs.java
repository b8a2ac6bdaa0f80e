import java.util.Arrays;

/** The codecs of chapter 31 that pages of 2.0 use too: bits, FastLanes, FSST, lz4. */
final class Codecs {
  private static final int[] ORDER = {0, 4, 2, 6, 1, 5, 3, 7};

  private Codecs() {}

  /** Returns whether each of some rows has its bit. */
  static boolean[] bits(byte[] data, int rows) {
    Refusal.need(data.length == (rows + 7) / 8, "a bitmap has a bit for each row");
    boolean[] found = new boolean[rows];
    for (int row = 0; row < rows; row++) found[row] = Bytes.bit(data, row);
    return found;
  }

  /** Returns values of `packed` bits that lie one after the other, each widened to `width` bits. */
  static byte[] packedBits(byte[] data, int rows, int packed, int width, boolean signed) {
    Refusal.need(data.length == ((long) rows * packed + 7) / 8, "a packed buffer has its values");
    byte[] found = new byte[Bytes.limited((long) rows * width / 8)];
    for (int row = 0; row < rows; row++) {
      long value = 0;
      for (int i = 0; i < packed; i++) {
        if (Bytes.bit(data, (long) row * packed + i)) value |= 1L << i;
      }
      if (signed) value = value << 64 - packed >> 64 - packed;
      put(found, row, width, value);
    }
    return found;
  }

  private static void put(byte[] values, int row, int width, long value) {
    for (int i = 0; i < width / 8; i++) values[row * width / 8 + i] = (byte) (value >> 8 * i);
  }

  private static long get(byte[] words, int index, int width) {
    long value = 0;
    for (int i = 0; i < width / 8; i++) value |= (words[index * width / 8 + i] & 0xffL) << 8 * i;
    return value;
  }

  /** Writes the 1024 values of one FastLanes block to `out`, from value `first` on. */
  static void unpack(byte[] words, int width, int packed, byte[] out, int first) {
    int lanes = 1024 / width;
    long mask = packed == 64 ? -1 : (1L << packed) - 1;
    for (int lane = 0; lane < lanes && packed > 0; lane++) {
      for (int row = 0; row < width; row++) {
        int word = row * packed / width, shift = row * packed % width;
        long value = get(words, word * lanes + lane, width) >>> shift;
        if (shift + packed > width) {
          value |= get(words, (word + 1) * lanes + lane, width) << width - shift;
        }
        int at = ORDER[row / 8] * 16 + row % 8 * 128 + lane;
        put(out, first + at, width, value & mask);
      }
    }
  }

  /** Returns the values of FastLanes blocks of one packed width. */
  static byte[] blocks(byte[] data, int rows, int packed, int width) {
    int numBlocks = (rows + 1023) / 1024, size = 128 * packed;
    Refusal.need(data.length == (long) numBlocks * size, "128 bytes for each bit and block");
    byte[] found = new byte[Bytes.limited(numBlocks * 1024L * width / 8)];
    for (int i = 0; i < numBlocks; i++) {
      unpack(Bytes.cut(data, (long) i * size, size), width, packed, found, 1024 * i);
    }
    return Arrays.copyOf(found, rows * (width / 8));
  }

  /** Returns strings whose bytes are FSST codes (chapter 31, FSST) as the strings themselves. */
  static Column fsst(Column codes, byte[] table) {
    Refusal.need(table.length == 2312 && Bytes.u32(table, 4) == 0x46535354L, "an FSST table");
    if ((table[3] & 1) == 0) return codes;
    int symbols = table[0] & 0xff;
    for (int i = 0; i < symbols; i++) {
      int size = table[8 + 8 * symbols + i];
      Refusal.need(size >= 1 && size <= 8, "symbols of 1 to 8 bytes");
    }
    var out = new java.io.ByteArrayOutputStream();
    int[] ends = new int[codes.rows() + 1];
    for (int row = 0; row < codes.rows(); row++) {
      int end = codes.ends()[row + 1];
      for (int at = codes.ends()[row]; at < end; at++) {
        int code = codes.data()[at] & 0xff;
        if (code < 255) {
          Refusal.need(code < symbols, "a code of no symbol");
          out.write(table, 8 + 8 * code, table[8 + 8 * symbols + code]);
        } else {
          Refusal.need(++at < end, "a value that ends after an escape");
          out.write(codes.data()[at]);
        }
      }
      ends[row + 1] = Bytes.limited(out.size());
    }
    return new Column(codes.type(), codes.rows(), codes.valid(), out.toByteArray(), ends,
        codes.children());
  }

  /** Returns the bytes of a compressed buffer of 2.0, `size` of them, or any number when it is -1. */
  static byte[] decompress(String scheme, byte[] data, long size) {
    if (scheme.equals("zstd")) {
      boolean bare = data.length >= 4 && Bytes.u32(data, 0) == Zstd.MAGIC;
      long before = bare ? -1 : Bytes.u64(data, 0);
      byte[] found = Zstd.decompress(bare ? data : Bytes.cut(data, 8, data.length - 8L));
      boolean stated = (bare || before == found.length) && (size < 0 || size == found.length);
      Refusal.need(stated, "the size before a frame is that of the values");
      return found;
    }
    Refusal.need(scheme.equals("lz4"), "a compression scheme that is none");
    long stated = Bytes.u32(data, 0);
    Refusal.need(size < 0 || stated == size, "the size before a block is that of the values");
    return lz4(Bytes.cut(data, 4, data.length - 4L), Bytes.limited(stated));
  }

  /** Returns the bytes of an lz4 block without a frame. */
  static byte[] lz4(byte[] data, int size) {
    byte[] out = new byte[size];
    int at = 0, to = 0;
    while (true) {
      Refusal.need(at < data.length, "an lz4 block without end");
      int token = data[at++] & 0xff;
      long literals = token >> 4;
      for (int more = 255; literals >= 15 && more == 255; literals += more) {
        more = Bytes.cut(data, at++, 1)[0] & 0xff;
      }
      Refusal.need(literals <= data.length - at && literals <= size - to, "lz4 literals");
      System.arraycopy(data, at, out, to, (int) literals);
      at += literals;
      to += literals;
      if (at == data.length) break;
      byte[] pair = Bytes.cut(data, at, 2);
      int back = pair[0] & 0xff | (pair[1] & 0xff) << 8;
      at += 2;
      long length = (token & 15) + 4;
      for (int more = 255; length >= 19 && more == 255; length += more) {
        more = Bytes.cut(data, at++, 1)[0] & 0xff;
      }
      Refusal.need(back > 0 && back <= to && length <= size - to, "an lz4 match");
      for (int i = 0; i < length; i++, to++) out[to] = out[to - back];
    }
    Refusal.need(to == size, "an lz4 block of another size");
    return out;
  }
}
