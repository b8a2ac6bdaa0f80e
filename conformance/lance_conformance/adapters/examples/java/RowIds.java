import java.util.ArrayList;
import java.util.List;

/** Row ids of a fragment, from a `RowIdSequence` (chapter 45, Row ids). */
final class RowIds {
  private final List<Long> ids = new ArrayList<>();
  private final int most;

  private RowIds(int most) {
    this.most = most;
  }

  /** Returns the row ids of all physical rows. */
  static long[] of(byte[] data, int rows) {
    var found = new RowIds(rows);
    for (Message segment : Message.of(data).messages(1)) found.segment(segment);
    Refusal.need(found.ids.size() == rows, "a row id for each row");
    return found.ids.stream().mapToLong(Long::longValue).toArray();
  }

  private void add(long id) {
    Refusal.need(ids.size() < most, "more row ids than rows");
    ids.add(id);
  }

  private void segment(Message segment) {
    int arm = segment.arm(1, 5);
    Refusal.need(arm > 0, "a segment of no kind");
    Message body = segment.message(arm);
    if (arm >= 4) {
      List<Long> values = array(body);
      for (int i = 0; i < values.size(); i++) {
        boolean rises = arm == 5 || i == 0 || values.get(i) > values.get(i - 1);
        Refusal.need(rises, "a sorted array that does not rise");
        add(values.get(i));
      }
      return;
    }
    long start = body.number(1), end = body.number(2);
    Refusal.need(start >= 0 && start <= end, "a range that ends before it begins");
    List<Long> holes = arm == 2 ? array(body.message(3)) : List.of();
    byte[] bitmap = arm == 3 ? body.bytes(3) : null;
    Refusal.need(bitmap == null || bitmap.length == (end - start + 7) / 8, "a bit for each value");
    int hole = 0;
    for (long id = start; id < end; id++) {
      if (hole < holes.size() && holes.get(hole) == id) hole++;
      else if (bitmap == null || Bytes.bit(bitmap, id - start)) add(id);
    }
    Refusal.need(hole == holes.size(), "holes that rise inside the range");
  }

  private static List<Long> array(Message array) {
    int arm = array.arm(1, 3);
    Refusal.need(arm > 0, "an array of no kind");
    Message body = array.message(arm);
    byte[] data = body.bytes(2);
    int width = 1 << arm;
    Refusal.need(data.length % width == 0, "an array of whole integers");
    List<Long> values = new ArrayList<>();
    for (int i = 0; i < data.length; i += width) {
      long value = width == 8 ? Bytes.u64(data, i) : width == 4 ? Bytes.u32(data, i)
          : Bytes.u32(new byte[] {data[i], data[i + 1], 0, 0}, 0);
      values.add(width == 8 ? value : body.number(1) + value);
    }
    return values;
  }
}
