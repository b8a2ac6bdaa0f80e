import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Little-endian integers, checked slices and checked text of byte arrays. */
final class Bytes {
  /** More bytes than any value of a case has: what would be larger is refused before it is made. */
  static final long LIMIT = 1L << 28;

  private Bytes() {}

  /** Returns a copy of `size` bytes at `position`; both are u64 and may be anything. */
  static byte[] cut(byte[] data, long position, long size) {
    boolean inside = position >= 0 && size >= 0 && position <= data.length;
    Refusal.need(inside && size <= data.length - position, size + " bytes at " + position);
    return Arrays.copyOfRange(data, (int) position, (int) (position + size));
  }

  static ByteBuffer view(byte[] data) {
    return ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
  }

  static ByteBuffer allocate(long size) {
    return view(new byte[limited(size)]);
  }

  /** Returns a size as an int. Refuses one above the limit. */
  static int limited(long size) {
    Refusal.need(size >= 0 && size <= LIMIT, size + " bytes or rows are above the limit");
    return (int) size;
  }

  static long u32(byte[] data, long at) {
    return view(cut(data, at, 4)).getInt() & 0xffffffffL;
  }

  /** Returns a u64; one of 2**63 or more is negative here. */
  static long u64(byte[] data, long at) {
    return view(cut(data, at, 8)).getLong();
  }

  static boolean bit(byte[] data, long index) {
    return (data[(int) (index >> 3)] >> (index & 7) & 1) == 1;
  }

  /** Returns the text of UTF-8 bytes. Refuses others. */
  static String text(byte[] data) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString();
    } catch (CharacterCodingException error) {
      throw Refusal.invalid("text that is not UTF-8");
    }
  }
}
