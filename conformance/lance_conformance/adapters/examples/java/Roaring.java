import java.util.ArrayList;
import java.util.List;

/** Roaring bitmaps and sets of row keys (chapter 45, Roaring bitmaps; chapter 60, Sets of rows). */
final class Roaring {
  /** Sets that name more rows than this are refused (L.table.limits.bitmap). */
  private static final int MOST = 1 << 22;

  private final byte[] data;
  private final List<Long> values = new ArrayList<>();
  private long at;

  private Roaring(byte[] data) {
    this.data = data;
  }

  /** Returns the values of a portable bitmap of 32 bits, which is all of some bytes. */
  static long[] bitmap(byte[] data) {
    var roaring = new Roaring(data);
    roaring.read(0);
    Refusal.need(roaring.at == data.length, "bytes after the last container");
    return roaring.found();
  }

  private long[] found() {
    return values.stream().mapToLong(Long::longValue).toArray();
  }

  private int u16() {
    byte[] pair = Bytes.cut(data, at, 2);
    at += 2;
    return pair[0] & 0xff | (pair[1] & 0xff) << 8;
  }

  private long u32() {
    at += 4;
    return Bytes.u32(data, at - 4);
  }

  /** Reads a bitmap whose values are the lower halves of keys with an upper half. */
  private void read(long upper) {
    long start = at, cookie = u32();
    boolean withRuns = (cookie & 0xffff) == 12347;
    Refusal.need(withRuns || cookie == 12346, "the cookie of a bitmap");
    int count = (int) (withRuns ? (cookie >> 16) + 1 : Math.min(u32(), 65537));
    Refusal.need(count <= 65536, "containers of a bitmap");
    byte[] runs = Bytes.cut(data, at, withRuns ? (count + 7) / 8 : 0);
    at += runs.length;
    int[] keys = new int[count], sizes = new int[count];
    for (int i = 0; i < count; i++) {
      keys[i] = u16();
      sizes[i] = u16() + 1;
      Refusal.need(i == 0 || keys[i] > keys[i - 1], "keys that rise");
    }
    if (!withRuns || count >= 4) {
      Bytes.cut(data, at, 4L * count);
      at += 4L * count; // where the containers start: they follow one another
    }
    for (int i = 0; i < count; i++) {
      boolean isRun = withRuns && Bytes.bit(runs, i);
      container(upper << 32 | (long) keys[i] << 16, sizes[i], isRun);
    }
    Refusal.need(at > start, "a bitmap");
  }

  private void container(long base, int size, boolean isRun) {
    int before = values.size(), last = -1;
    if (isRun) {
      for (int runs = u16(); runs > 0; runs--) {
        int first = u16(), most = first + u16();
        Refusal.need(first > last && most < 65536, "runs that rise");
        for (int value = first; value <= most; value++) add(base + value);
        last = most;
      }
    } else if (size <= 4096) {
      for (int i = 0; i < size; i++) {
        int value = u16();
        Refusal.need(value > last, "values that rise");
        add(base + value);
        last = value;
      }
    } else {
      byte[] bits = Bytes.cut(data, at, 8192);
      at += 8192;
      for (int i = 0; i < 65536; i++) if (Bytes.bit(bits, i)) add(base + i);
    }
    Refusal.need(values.size() - before == size, "a container of its cardinality");
  }

  private void add(long value) {
    Refusal.need(values.size() < MOST, "a bitmap above the limit");
    values.add(value);
  }

  /** Returns the keys of a `RoaringTreemap`. */
  static long[] treemap(byte[] data) {
    var roaring = new Roaring(data);
    long last = -1;
    roaring.at = 8;
    for (long left = Bytes.u64(data, 0); left != 0; left--) {
      long upper = roaring.u32();
      Refusal.need(upper > last, "upper halves that rise");
      roaring.read(upper);
      last = upper;
    }
    Refusal.need(roaring.at == data.length, "bytes after the last bitmap");
    return roaring.found();
  }

  /** Returns the keys of a `RowAddrTreeMap`. Sets of whole fragments are refused. */
  static long[] rows(byte[] data) {
    var roaring = new Roaring(data);
    long last = -1;
    for (long left = roaring.u32(); left > 0; left--) {
      long fragment = roaring.u32(), size = roaring.u32(), start = roaring.at;
      Refusal.need(fragment > last, "fragments that rise");
      if (size == 0) throw Refusal.unsupported("whole fragments of a set of rows");
      roaring.read(fragment);
      Refusal.need(roaring.at - start == size, "a bitmap of its size");
      last = fragment;
    }
    Refusal.need(roaring.at == data.length, "bytes after the last fragment");
    return roaring.found();
  }
}
