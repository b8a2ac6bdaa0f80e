import java.util.Arrays;

/** Zstandard frames (RFC 8878) without dictionaries; checksums are not looked at. */
final class Zstd {
  static final long MAGIC = 0xfd2fb528L;
  private static final int[] LITERAL_BITS = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11,
    12, 13, 14, 15, 16
  };
  private static final int[] MATCH_BITS = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
  };
  private static final Fse LITERALS = Fse.of(6, new int[] {
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
    -1, -1, -1, -1
  });
  private static final Fse MATCHES = Fse.of(6, new int[] {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1
  });
  private static final Fse OFFSETS = Fse.of(5, new int[] {
    1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1
  });

  private final byte[] data;
  private int at;
  private byte[] out = new byte[1024];
  private int size;
  private final long[] recent = {1, 4, 8};
  private final Fse[] tables = new Fse[3];
  private short[] huffman; // symbol << 4 | bits, for each value of `huffmanBits` bits
  private int huffmanBits;
  private byte[] literals;

  private Zstd(byte[] data) {
    this.data = data;
  }

  /** Returns the bytes of a frame, which must be all there is. */
  static byte[] decompress(byte[] frame) {
    var zstd = new Zstd(frame);
    try {
      zstd.frame();
    } catch (IndexOutOfBoundsException error) {
      throw Refusal.invalid("a zstd frame that is cut or damaged");
    }
    return Arrays.copyOf(zstd.out, zstd.size);
  }

  private long number(int bytes) {
    long value = 0;
    for (int i = 0; i < bytes; i++) value |= (data[at++] & 0xffL) << 8 * i;
    return value;
  }

  private void frame() {
    Refusal.need(number(4) == MAGIC, "a zstd frame");
    int head = (int) number(1);
    boolean single = (head & 32) != 0;
    int width = new int[] {single ? 1 : 0, 2, 4, 8}[head >> 6];
    at += (single ? 0 : 1) + new int[] {0, 1, 2, 4}[head & 3];
    long stated = number(width) + (width == 2 ? 256 : 0);
    boolean last = false;
    while (!last) {
      int block = (int) number(3), length = block >> 3;
      last = (block & 1) == 1;
      switch (block >> 1 & 3) {
        case 0 -> {
          append(data, at, length);
          at += length;
        }
        case 1 -> {
          byte[] run = new byte[length];
          Arrays.fill(run, data[at++]);
          append(run, 0, length);
        }
        case 2 -> block(at + length);
        default -> throw Refusal.invalid("a zstd block of no kind");
      }
    }
    Refusal.need(width == 0 || stated == size, "a frame of the size that it states");
    Refusal.need(at + ((head & 4) == 0 ? 0 : 4) == data.length, "bytes after a frame");
  }

  private void append(byte[] from, int start, int length) {
    if (size + length > out.length) {
      out = Arrays.copyOf(out, Bytes.limited(Math.max(2L * out.length, (long) size + length)));
    }
    System.arraycopy(from, start, out, size, length);
    size += length;
  }

  private void block(int end) {
    Refusal.need(end <= data.length, "a zstd block beyond its frame");
    literals();
    int count = (int) number(1);
    if (count >= 128) count = count < 255 ? (count - 128 << 8) + (int) number(1) : (int) number(2) + 0x7f00;
    int used = 0;
    if (count > 0) {
      int modes = (int) number(1);
      Refusal.need((modes & 3) == 0, "modes of sequences");
      table(0, modes >> 6, LITERALS, 9);
      table(1, modes >> 4 & 3, OFFSETS, 8);
      table(2, modes >> 2 & 3, MATCHES, 9);
      used = sequences(count, new Bits(data, at, end));
    }
    append(literals, used, literals.length - used);
    at = end;
  }

  private void table(int index, int mode, Fse known, int most) {
    if (mode == 0) tables[index] = known;
    if (mode == 1) tables[index] = Fse.one((int) number(1));
    if (mode == 2) {
      var bits = new Bits(data, at);
      tables[index] = Fse.read(bits, most);
      at = bits.nextByte();
    }
    Refusal.need(tables[index] != null, "a table that is repeated before it is made");
  }

  private int sequences(int count, Bits bits) {
    int[] states = new int[3];
    for (int i = 0; i < 3; i++) states[i] = bits.back(tables[i].log());
    int used = 0;
    for (int i = 0; i < count; i++) {
      int offsetCode = tables[1].symbol()[states[1]], matchCode = tables[2].symbol()[states[2]];
      int literalCode = tables[0].symbol()[states[0]];
      Refusal.need(offsetCode < 32, "an offset of zstd");
      long offset = (1L << offsetCode) + bits.back(offsetCode);
      int match = base(MATCH_BITS, matchCode) + 3 + bits.back(MATCH_BITS[matchCode]);
      int length = base(LITERAL_BITS, literalCode) + bits.back(LITERAL_BITS[literalCode]);
      if (i + 1 < count) {
        for (int k : new int[] {0, 2, 1}) states[k] = tables[k].next(states[k], bits);
      }
      append(literals, used, length);
      used += length;
      copy(offset(offset, length), match);
    }
    Refusal.need(bits.isDone(), "bits after the last sequence");
    return used;
  }

  private static int base(int[] bits, int code) {
    int base = 0;
    for (int i = 0; i < code; i++) base += 1 << bits[i];
    return base;
  }

  private long offset(long value, int literalLength) {
    if (value > 3) {
      recent[2] = recent[1];
      recent[1] = recent[0];
      return recent[0] = value - 3;
    }
    int index = (int) value - 1 + (literalLength == 0 ? 1 : 0);
    long found = index == 3 ? recent[0] - 1 : recent[index];
    if (index >= 2) recent[2] = recent[1];
    if (index >= 1) recent[1] = recent[0];
    return recent[0] = found;
  }

  private void copy(long offset, int length) {
    Refusal.need(offset > 0 && offset <= size, "an offset before the frame");
    append(new byte[length], 0, length);
    for (int to = size - length; to < size; to++) out[to] = out[to - (int) offset];
  }

  private void literals() {
    int head = data[at] & 0xff, kind = head & 3, format = head >> 2 & 3;
    if (kind < 2) {
      int bytes = format == 1 ? 2 : format == 3 ? 3 : 1;
      int length = (int) (number(bytes) >> (bytes == 1 ? 3 : 4));
      literals = new byte[length];
      if (kind == 1) Arrays.fill(literals, data[at++]);
      else System.arraycopy(data, at, literals, 0, length);
      if (kind == 0) at += length;
      return;
    }
    int width = format < 2 ? 10 : format == 2 ? 14 : 18;
    long header = number(format < 2 ? 3 : format + 2);
    int length = (int) (header >> 4 & (1 << width) - 1), end = at + (int) (header >> 4 + width);
    if (kind == 2) huffman();
    Refusal.need(huffman != null, "a tree that is repeated before it is made");
    literals = new byte[length];
    if (format == 0) {
      stream(at, end, 0, length);
    } else {
      int start = at + 6, part = (length + 3) / 4;
      for (int i = 0; i < 4; i++) {
        int stop = i == 3 ? end : start + (int) number(2);
        stream(start, stop, i * part, i == 3 ? length : (i + 1) * part);
        start = stop;
      }
    }
    at = end;
  }

  private void stream(int start, int end, int from, int to) {
    var bits = new Bits(data, start, end);
    for (int i = from; i < to; i++) {
      short entry = huffman[bits.peek(huffmanBits)];
      literals[i] = (byte) (entry >> 4);
      bits.back(entry & 15);
    }
    Refusal.need(bits.isDone(), "bits after the last literal");
  }

  private void huffman() {
    int head = (int) number(1), count = 0;
    int[] weights = new int[256];
    if (head >= 128) {
      count = head - 127;
      for (int i = 0; i < count; i++) weights[i] = data[at + i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
      at += (count + 1) / 2;
    } else {
      int end = at + head;
      var described = new Bits(data, at);
      Fse table = Fse.read(described, 6);
      var bits = new Bits(data, described.nextByte(), end);
      int[] states = {bits.back(table.log()), bits.back(table.log())};
      for (int i = 0; ; i = 1 - i) {
        weights[count++] = table.symbol()[states[i]];
        if (bits.left() < table.bits()[states[i]]) {
          weights[count++] = table.symbol()[states[1 - i]];
          break;
        }
        states[i] = table.next(states[i], bits);
      }
      at = end;
    }
    int sum = 0;
    for (int weight : weights) sum += weight == 0 ? 0 : 1 << weight - 1;
    Refusal.need(sum > 0, "a tree without weights");
    huffmanBits = 32 - Integer.numberOfLeadingZeros(sum);
    int left = (1 << huffmanBits) - sum;
    Refusal.need(huffmanBits <= 11 && (left & left - 1) == 0, "a tree that is not full");
    weights[count] = Integer.numberOfTrailingZeros(left) + 1;
    huffman = new short[1 << huffmanBits];
    int to = 0;
    for (int weight = 1; weight <= huffmanBits; weight++) {
      for (int symbol = 0; symbol <= count; symbol++) {
        if (weights[symbol] != weight) continue;
        short entry = (short) (symbol << 4 | huffmanBits + 1 - weight);
        Arrays.fill(huffman, to, to += 1 << weight - 1, entry);
      }
    }
  }

  /** Bits of a part of some bytes, read forwards from its start or backwards from its end. */
  private static final class Bits {
    private final byte[] data;
    private final int start;
    private int bit;

    Bits(byte[] data, int start) {
      this.data = data;
      this.start = start;
      bit = 8 * start;
    }

    Bits(byte[] data, int start, int end) {
      this(data, start);
      Refusal.need(end > start && data[end - 1] != 0, "a stream of bits with its end mark");
      bit = 8 * end - Integer.numberOfLeadingZeros(data[end - 1] & 0xff) + 24 - 1;
    }

    private int get(int from, int count) {
      int value = 0;
      for (int i = 0; i < count; i++) {
        int place = from + i;
        if (place >= 8 * start && Bytes.bit(data, place)) value |= 1 << i;
      }
      return value;
    }

    int forward(int count) {
      bit += count;
      return get(bit - count, count);
    }

    int peek(int count) {
      return get(bit - count, count);
    }

    int back(int count) {
      Refusal.need(count <= left(), "more bits than there are");
      bit -= count;
      return get(bit, count);
    }

    int left() {
      return bit - 8 * start;
    }

    boolean isDone() {
      return left() == 0;
    }

    int nextByte() {
      return (bit + 7) / 8;
    }
  }

  /** A table of finite state entropy: of each state its symbol, and how the next one is found. */
  private record Fse(int log, int[] symbol, int[] bits, int[] base) {
    static Fse one(int symbol) {
      return new Fse(0, new int[] {symbol}, new int[1], new int[1]);
    }

    int next(int state, Bits from) {
      return base[state] + from.back(bits[state]);
    }

    static Fse read(Bits bits, int most) {
      int log = bits.forward(4) + 5, left = 1 << log, count = 0;
      Refusal.need(log <= most, "a table above its limit");
      int[] shares = new int[256];
      while (left > 0) {
        int width = 32 - Integer.numberOfLeadingZeros(left + 1);
        int low = bits.forward(width - 1), threshold = (1 << width) - 1 - (left + 1);
        if (low >= threshold && bits.forward(1) == 1) low += (1 << width - 1) - threshold;
        shares[count++] = low - 1;
        left -= Math.abs(low - 1);
        for (int zeros = low == 1 ? 3 : 0; zeros == 3; count += zeros) zeros = bits.forward(2);
      }
      Refusal.need(left == 0, "shares of a table");
      return of(log, Arrays.copyOf(shares, count));
    }

    static Fse of(int log, int[] shares) {
      int size = 1 << log, end = size, place = 0;
      int[] symbol = new int[size], bits = new int[size], base = new int[size];
      int[] next = new int[shares.length];
      for (int s = 0; s < shares.length; s++) {
        next[s] = Math.abs(shares[s]);
        if (shares[s] == -1) symbol[--end] = s;
      }
      for (int s = 0; s < shares.length; s++) {
        for (int i = 0; i < shares[s]; i++) {
          symbol[place] = s;
          do place = place + (size >> 1) + (size >> 3) + 3 & size - 1; while (place >= end);
        }
      }
      for (int state = 0; state < size; state++) {
        int value = next[symbol[state]]++;
        bits[state] = log - (31 - Integer.numberOfLeadingZeros(value));
        base[state] = (value << bits[state]) - size;
      }
      return new Fse(log, symbol, bits, base);
    }
  }
}
