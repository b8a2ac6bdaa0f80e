import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** How compactions moved rows that indices still have by their old addresses (chapter 60). */
final class Reuse {
  /** Fragments that were rewritten: addresses of the rows that were kept, and where these are now. */
  private record Group(Set<Long> old, Set<Long> now, long[] from, long[] to) {}

  /** Moves nothing: a table without the entry. */
  static final Reuse NONE = new Reuse(List.of());

  private final List<Group> groups;

  private Reuse(List<Group> groups) {
    this.groups = groups;
  }

  /** Reads the details of the entry, whose folder an external file lies below. */
  static Reuse of(Message details, java.nio.file.Path folder) {
    Message content = details.message(1);
    if (details.has(2)) {
      Message external = details.message(2);
      String path = external.text(1);
      boolean below = !path.isEmpty() && !path.startsWith("/")
          && !List.of(path.split("/")).contains("..");
      Refusal.need(below, "a path below the folder of the index");
      byte[] file = DataFile.read(folder.resolve(path));
      content = Message.of(Bytes.cut(file, external.number(2), external.number(3)));
    }
    List<Group> groups = new ArrayList<>();
    for (Message version : content.messages(1)) {
      for (Message one : version.messages(3)) {
        groups.add(group(one.bytes(1), one.messages(2), one.messages(3)));
      }
    }
    for (Message one : content.messages(2)) {
      if (one.arm(3, 4) != 3) throw Refusal.unsupported("stable partitions");
      groups.add(group(one.message(3).bytes(1), one.messages(1), one.messages(2)));
    }
    return new Reuse(groups);
  }

  private static Group group(byte[] kept, List<Message> before, List<Message> after) {
    long[] from = Roaring.treemap(kept);
    Set<Long> now = new HashSet<>();
    Map<Long, Long> old = new HashMap<>();
    for (Message fragment : before) old.put(fragment.number(1), fragment.number(2));
    long[] to = new long[from.length];
    int at = 0;
    for (Message fragment : after) {
      long id = fragment.number(1), rows = fragment.number(2);
      now.add(id);
      Refusal.need(rows >= 0 && rows <= to.length - at, "as many rows as were written on");
      for (int row = 0; row < rows; row++) to[at++] = id << 32 | row;
    }
    Refusal.need(at == to.length, "as many rows as were written on");
    for (long address : from) {
      long rows = old.getOrDefault(address >>> 32, 0L);
      Refusal.need((address & 0xffffffffL) < rows, "rows of the old fragments");
    }
    return new Group(old.keySet(), now, from, to);
  }

  /** Returns where a row is now, -1 when it is gone. */
  long moved(long address) {
    for (Group group : groups) {
      if (address < 0 || !group.old.contains(address >>> 32)) continue;
      int rank = Arrays.binarySearch(group.from, address);
      address = rank < 0 ? -1 : group.to[rank];
    }
    return address;
  }

  /** Returns the fragments that hold the rows of some fragments now. */
  Set<Long> moved(Set<Long> fragments) {
    Set<Long> found = new HashSet<>(fragments);
    for (Group group : groups) {
      if (!found.containsAll(group.old)) continue;
      found.removeAll(group.old);
      found.addAll(group.now);
    }
    return found;
  }
}
