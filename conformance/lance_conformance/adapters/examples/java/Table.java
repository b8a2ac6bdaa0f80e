import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One version of a table (chapter 40): its manifest, schema and fragments. */
final class Table {
  /** The bits of the reader word that this reader knows: deletion files, stable row ids. */
  static final long FLAGS = 3;

  final Path root;
  final byte[] file;
  final Message manifest;
  final List<Field> fields;
  final List<Fragment> fragments = new ArrayList<>();
  final boolean isLegacy;

  /** Opens the version asked for, or the latest when it is null. */
  Table(Path root, String version) {
    this.root = root;
    file = DataFile.read(root.resolve("_versions").resolve(name(root, version)));
    int foot = file.length - 16;
    Refusal.need(foot >= 0 && Bytes.u32(file, foot + 12) == 0x434e414cL, "a manifest ends with LANC");
    manifest = section(Bytes.u64(file, foot));
    long flags = manifest.number(9);
    if ((flags & ~FLAGS) != 0) throw Refusal.unsupported("reader flags " + flags);
    fields = Field.tree(manifest.messages(1));
    Message format = manifest.message(15);
    boolean known = format.text(2).matches("0\\.1|2\\.[0-3]") && format.text(1).equals("lance");
    Refusal.need(!manifest.has(15) || known, "a storage format of lance");
    isLegacy = !manifest.has(15) || format.text(2).equals("0.1");
    long last = -1;
    for (Message fragment : manifest.messages(2)) {
      long id = fragment.number(1);
      Refusal.need(id > last && id < 1L << 32, "fragments by ascending id");
      fragments.add(new Fragment(this, fragment));
      last = id;
    }
  }

  /** Returns the message of a section, which lies after its length and before the footer. */
  Message section(long position) {
    long end = file.length - 16L;
    Refusal.need(position >= 0 && position <= end - 4, "a section before the footer");
    long size = Bytes.u32(file, position);
    Refusal.need(size <= end - 4 - position, "a section that ends before the footer");
    return Message.of(Bytes.cut(file, position + 4, size));
  }

  private static String name(Path root, String version) {
    Map<String, String> names = new HashMap<>();
    Set<Boolean> schemes = new HashSet<>();
    String latest = null;
    for (String name : list(root.resolve("_versions"))) {
      if (!name.matches("\\d{1,20}\\.manifest")) continue;
      String digits = name.substring(0, name.indexOf('.'));
      boolean isV2 = digits.length() == 20;
      schemes.add(isV2);
      long number = Long.parseUnsignedLong(digits);
      String found = Long.toUnsignedString(isV2 ? -1 - number : number);
      names.put(found, name);
      if (latest == null || Long.compareUnsigned(
          Long.parseUnsignedLong(found), Long.parseUnsignedLong(latest)) > 0) {
        latest = found;
      }
    }
    Refusal.need(schemes.size() == 1, "a table with manifests of one naming scheme");
    String name = names.get(version == null ? latest : version);
    Refusal.need(name != null, "no version " + version);
    return name;
  }

  static List<String> list(Path folder) {
    try (var paths = Files.list(folder)) {
      return paths.map(path -> path.getFileName().toString()).sorted().toList();
    } catch (IOException error) {
      throw Refusal.invalid("no folder " + folder.getFileName());
    }
  }

  /** Returns the live rows of a field in all fragments. */
  Column column(Field field) {
    List<Column> parts = new ArrayList<>();
    for (Fragment fragment : fragments) parts.add(fragment.column(field).take(fragment.live));
    return Column.concat(field.type().stored(), parts);
  }

  /** Returns the number of live rows. */
  int rows() {
    return Bytes.limited(fragments.stream().mapToLong(fragment -> fragment.live.length).sum());
  }

  /** Returns what a fragment says of each live row: its address, or its row id. */
  long[] keys(boolean address) {
    List<Long> keys = new ArrayList<>();
    for (Fragment fragment : fragments) {
      for (int offset : fragment.live) {
        boolean stable = !address && fragment.rowIds != null;
        keys.add(stable ? fragment.rowIds[offset] : fragment.id << 32 | offset);
      }
    }
    return keys.stream().mapToLong(Long::longValue).toArray();
  }

  /** Returns whether rows have stable ids, which are the keys of indices then. */
  boolean hasRowIds() {
    return (manifest.number(9) & 2) != 0;
  }

  /** Returns what no key of an index is above: any where keys are row ids. */
  long greatestKey() {
    return hasRowIds() || !manifest.has(11) ? Long.MAX_VALUE : (manifest.number(11) + 1 << 32) - 1;
  }

  /** Returns a field by its name, with dots for the fields of structs. */
  static Field find(List<Field> fields, String name) {
    String[] parts = name.split("\\.", 2);
    for (Field field : fields) {
      if (!field.name().equals(parts[0])) continue;
      return parts.length == 1 ? field : find(field.type().children(), parts[1]);
    }
    throw Refusal.invalid("no column " + name);
  }
}
