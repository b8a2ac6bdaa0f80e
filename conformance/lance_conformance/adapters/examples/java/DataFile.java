import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A data file of 2.x: what its end says of it (chapter 10), without its values. */
final class DataFile {
  /** A page: its buffers, its rows, and the message that says how they are encoded. */
  record Page(List<byte[]> buffers, int rows, Message encoding) {}

  /** The pages of a column, its own buffers, and its column encoding. */
  record Pages(List<Page> pages, List<byte[]> buffers, Message encoding) {
    long rows() {
      return pages.stream().mapToLong(Page::rows).sum();
    }
  }

  final byte[] data;
  final String version;
  final List<Field> fields;
  final Map<String, byte[]> metadata;
  final long rows;
  private final List<Message> columns = new ArrayList<>();
  private final List<byte[]> globals = new ArrayList<>();
  private final long dataEnd;

  static DataFile open(Path path) {
    return new DataFile(read(path));
  }

  static byte[] read(Path path) {
    try {
      return Files.readAllBytes(path);
    } catch (IOException error) {
      throw Refusal.invalid("cannot read " + path.getFileName());
    }
  }

  DataFile(byte[] data) {
    this.data = data;
    Refusal.need(data.length >= 40, "a footer has 40 bytes");
    int foot = data.length - 40;
    long start = Bytes.u64(data, foot), cmo = Bytes.u64(data, foot + 8);
    long gbo = Bytes.u64(data, foot + 16);
    long numGlobals = Bytes.u32(data, foot + 24), numColumns = Bytes.u32(data, foot + 28);
    version = version(Bytes.u32(data, foot + 32));
    Refusal.need(Bytes.u32(data, foot + 36) == 0x434e414cL, "a file ends with LANC");
    Refusal.need(start >= 0 && start <= cmo && cmo <= gbo && gbo <= foot, "tables in their order");
    Refusal.need(cmo + 16 * numColumns == gbo, "the column table ends where the other begins");
    Refusal.need(numGlobals > 0 && gbo + 16 * numGlobals <= foot, "the buffer table has room");
    for (int i = 0; i < numGlobals; i++) globals.add(entry(gbo, i, 0, start));
    dataEnd = Bytes.u64(data, gbo);
    for (int i = 0; i < numColumns; i++) columns.add(Message.of(entry(cmo, i, start, cmo)));
    Message descriptor = Message.of(globals.get(0));
    Refusal.need(descriptor.has(1), "the descriptor has a schema");
    fields = Field.tree(descriptor.message(1).messages(1));
    metadata = descriptor.message(1).map(5);
    rows = Bytes.limited(descriptor.number(2));
  }

  private static String version(long words) {
    int major = (int) (words & 0xffff), minor = (int) (words >> 16);
    String version = major == 0 && minor == 3 ? "2.0" : major + "." + minor;
    Refusal.need(version.matches("2\\.[0-3]"), "version words " + major + ", " + minor);
    return version;
  }

  private byte[] entry(long table, int index, long least, long most) {
    long position = Bytes.u64(data, table + 16L * index), size = Bytes.u64(data, table + 16L * index + 8);
    boolean inside = position >= least && size >= 0 && position <= most && size <= most - position;
    Refusal.need(inside, "an entry of an offset table lies in its place");
    return Bytes.cut(data, position, size);
  }

  int numColumns() {
    return columns.size();
  }

  int numGlobals() {
    return globals.size();
  }

  /** Returns a global buffer that a text of decimal digits names (L.index.files.buffer). */
  byte[] global(String number) {
    boolean exists = number != null && number.matches("\\d{1,6}")
        && Integer.parseInt(number) < globals.size();
    Refusal.need(exists, "a global buffer that is there");
    return globals.get(Integer.parseInt(number));
  }

  /** Returns bytes of the data area, as a blob names them. */
  byte[] payload(long position, long size) {
    boolean inside = position >= 0 && size >= 0 && position <= dataEnd && size <= dataEnd - position;
    Refusal.need(inside, "a blob inside the data area");
    return Bytes.cut(data, position, size);
  }

  /** Returns an entry of the metadata of the schema as text, or null. */
  String text(String key) {
    return metadata.containsKey(key) ? Bytes.text(metadata.get(key)) : null;
  }

  /** Returns the pages of a column, whose page message is the one of 2.0 or of a later version. */
  Pages column(int index) {
    Refusal.need(index >= 0 && index < columns.size(), "a column for each field");
    Message column = columns.get(index);
    var pages = new ArrayList<Page>();
    String wanted = version.equals("2.0") ? "lance.encodings.ArrayEncoding"
        : version.equals("2.3") ? "lance.encodings23.PlanarLayout" : "lance.encodings21.PageLayout";
    for (Message page : column.messages(2)) {
      List<byte[]> buffers = buffers(page.numbers(1), page.numbers(2));
      int rows = Bytes.limited(page.number(3));
      pages.add(new Page(buffers, rows, direct(page.message(4), wanted)));
    }
    Message encoding = direct(column.message(1), "lance.encodings.ColumnEncoding");
    return new Pages(pages, buffers(column.numbers(3), column.numbers(4)), encoding);
  }

  private List<byte[]> buffers(long[] offsets, long[] sizes) {
    Refusal.need(offsets.length == sizes.length, "a size for each offset");
    var buffers = new ArrayList<byte[]>();
    for (int i = 0; i < offsets.length; i++) {
      boolean inside = offsets[i] >= 0 && sizes[i] >= 0 && offsets[i] <= dataEnd - sizes[i];
      Refusal.need(inside, "a buffer lies before the descriptor");
      boolean aligned = version.equals("2.0") || offsets[i] % 64 == 0;
      Refusal.need(aligned, "a buffer starts at a multiple of 64");
      buffers.add(Bytes.cut(data, offsets[i], sizes[i]));
    }
    return buffers;
  }

  /** Returns the message inside an `Encoding` that is direct and an `Any` of the type wanted. */
  private static Message direct(Message encoding, String wanted) {
    Refusal.need(encoding.arm(1, 3) == 2, "an encoding that is stored direct");
    Message any = Message.of(encoding.message(2).bytes(1));
    String url = any.text(1);
    Refusal.need(url.substring(url.lastIndexOf('/') + 1).equals(wanted), "not " + wanted);
    return Message.of(any.bytes(2));
  }
}
