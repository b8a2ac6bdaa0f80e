import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** All rows of fields of 2.0 (chapter 20), whose columns are found by field id. */
final class FileReader {
  /** A column of a file. */
  record Place(DataFile file, int column) {
    DataFile.Pages pages() {
      return file.column(column);
    }
  }

  private final Function<Field, Place> places;
  private int structs;

  private FileReader(Function<Field, Place> places) {
    this.places = places;
  }

  /** Returns a column for each top-level field of a file. */
  static List<Column> read(DataFile file) {
    Map<Integer, Place> places = places(file);
    List<Column> columns = new ArrayList<>();
    for (Field field : file.fields) {
      Column column = read(field, one -> places.get(one.id()), (int) file.rows);
      Refusal.need(column.rows() == file.rows, "as many rows as the descriptor says");
      columns.add(column);
    }
    return columns;
  }

  /** Returns the rows of a field; so many nulls where none of its columns is in a place. */
  static Column read(Field field, Function<Field, Place> places, int rows) {
    return new FileReader(places).field(field, rows);
  }

  /** Returns the column of each field of a file, depth-first (L.file.schema.num-columns). */
  static Map<Integer, Place> places(DataFile file) {
    Map<Integer, Place> places = new HashMap<>();
    int next = 0;
    for (Field field : file.fields) next = place(file, field, next, places);
    Refusal.need(next == file.numColumns(), "a column for each field and no other");
    return places;
  }

  private static int place(DataFile file, Field field, int next, Map<Integer, Place> places) {
    boolean nested = field.type().isList() || field.type().name().equals("struct");
    boolean owns = file.version.equals("2.0") || !nested || field.isPacked();
    var place = new Place(file, owns ? next++ : -1);
    if (owns) places.put(field.id(), place);
    if (owns && field.type().isVariable()) return isEarly(place.pages()) ? next + 1 : next;
    if (!nested || field.isPacked()) return next;
    for (Field child : field.type().children()) next = place(file, child, next, places);
    return next;
  }

  /** Returns whether the strings of a column are lists of bytes (L.array.binary.early). */
  private static boolean isEarly(DataFile.Pages pages) {
    return !pages.pages().isEmpty() && pages.pages().get(0).encoding().arm(1, 21) == 4;
  }

  private Column field(Field field, int rows) {
    Type type = field.type();
    Place place = places.apply(field);
    boolean isStruct = type.name().equals("struct") && !field.isPacked();
    if (place == null && isStruct && isLater(type.children())) return later(type, rows);
    Refusal.need(place != null || !hasPlace(type.children()), "a field with columns has its own");
    if (place == null) return nullChecked(field, Column.nulls(type.stored(), rows));
    DataFile.Pages pages = place.pages();
    if (!place.file.version.equals("2.0")) {
      return nullChecked(field, Pages.read(type, place.file, pages, structs));
    }
    if (field.isBlob()) return nullChecked(field, blob(field, place.file, pages));
    Refusal.need(pages.encoding().arm(1, 3) == 1, "the encoding of a plain column is values");
    if (isStruct) return struct(type, pages);
    if (type.isList()) return nullChecked(field, list(type, pages));
    boolean early = type.isVariable() && isEarly(pages);
    Column column = early ? strings(type, place, pages) : leaf(type, pages);
    if (type.isText()) {
      for (int row = 0; row < column.rows(); row++) {
        if (column.isValid(row)) Bytes.text(column.bytes(row));
      }
    }
    return nullChecked(field, column);
  }

  /** Returns whether fields lie in a file of 2.1 or later, where structs have no column. */
  private boolean isLater(List<Field> fields) {
    return fields.stream().anyMatch(one -> places.apply(one) != null
        ? !places.apply(one).file.version.equals("2.0") : isLater(one.type().children()));
  }

  private Column later(Type type, int rows) {
    structs++;
    List<Column> children = new ArrayList<>();
    for (Field child : type.children()) children.add(field(child, rows));
    structs--;
    return new Column(type, rows, null, null, null, children);
  }

  private boolean hasPlace(List<Field> fields) {
    return fields.stream().anyMatch(
        one -> places.apply(one) != null || hasPlace(one.type().children()));
  }

  private static Column nullChecked(Field field, Column column) {
    Refusal.need(field.nullable() || !column.hasNulls(), "a null in a field that has none");
    return column;
  }

  private static Column leaf(Type type, DataFile.Pages pages) {
    var parts = new ArrayList<Column>();
    for (DataFile.Page page : pages.pages()) {
      var encodings = new Encodings(page.buffers(), pages.buffers());
      parts.add(encodings.decode(page.encoding(), type, page.rows()));
    }
    return Column.concat(type.stored(), parts);
  }

  private Column struct(Type type, DataFile.Pages pages) {
    Refusal.need(pages.pages().size() <= 1, "a struct has one header page");
    int rows = (int) pages.rows();
    for (DataFile.Page page : pages.pages()) {
      boolean header = page.encoding().arm(1, 21) == 5 && page.buffers().isEmpty();
      Refusal.need(header, "a header without buffers");
    }
    var children = new ArrayList<Column>();
    for (Field child : type.children()) {
      Column column = field(child, rows);
      Refusal.need(column.rows() == rows, "a header of the rows of its fields");
      children.add(column);
    }
    return new Column(type, rows, null, null, null, children);
  }

  private Column list(Type type, DataFile.Pages pages) {
    var ends = new ArrayList<int[]>();
    var validity = new ArrayList<boolean[]>();
    long rows = 0, items = 0;
    for (DataFile.Page page : pages.pages()) {
      Refusal.need(page.encoding().arm(1, 21) == 4, "a page of lists");
      Message list = page.encoding().message(4);
      long count = Bytes.limited(list.number(3)), adjustment = list.number(2);
      Refusal.need(Long.compareUnsigned(adjustment, count) > 0, "an adjustment above the items");
      var encodings = new Encodings(page.buffers(), pages.buffers());
      boolean[] valid = new boolean[page.rows()];
      int[] found = Encodings.ends(
          encodings.ends(list.message(1), page.rows()), adjustment, count, valid);
      Refusal.need(found[page.rows()] == count, "as many items as the page says");
      ends.add(found);
      validity.add(valid);
      rows += page.rows();
      items += count;
    }
    Column child = field(type.item(), Bytes.limited(items));
    Refusal.need(child.rows() == items, "as many items as the pages say");
    int[] all = new int[Bytes.limited(rows) + 1];
    boolean[] valid = new boolean[(int) rows];
    int row = 0;
    for (int page = 0; page < ends.size(); page++) {
      int first = all[row];
      for (int i = 0; i < validity.get(page).length; i++, row++) {
        valid[row] = validity.get(page)[i];
        all[row + 1] = first + ends.get(page)[i + 1];
      }
    }
    return new Column(type, (int) rows, valid, null, all, List.of(child));
  }

  /** Returns strings of early writers: lists of the bytes that the next column has. */
  private static Column strings(Type type, Place place, DataFile.Pages pages) {
    Field item = Field.of(-1, "item", Type.plain("uint8", 8), false);
    var bytes = new FileReader(one -> new Place(place.file, place.column + 1));
    Column lists = bytes.list(new Type("list", -1, "", "", 0, 0, 0, List.of(item)), pages);
    byte[] data = lists.children().get(0).data();
    return new Column(type, lists.rows(), lists.valid(), data, lists.ends(), List.of());
  }

  private static Column blob(Field field, DataFile file, DataFile.Pages pages) {
    Refusal.need(field.type().name().equals("large_binary"), "a blob of large_binary");
    boolean blob = pages.encoding().arm(1, 3) == 3
        && pages.encoding().message(3).message(1).arm(1, 3) == 1;
    Refusal.need(blob, "the encoding of a blob column");
    var parts = List.of(Field.of(0, "position", Encodings.UINT64, false),
        Field.of(1, "size", Encodings.UINT64, false));
    Column places = leaf(new Type("struct", -1, "", "", 0, 0, 0, parts), pages);
    boolean[] valid = new boolean[places.rows()];
    int[] ends = new int[places.rows() + 1];
    var out = new java.io.ByteArrayOutputStream();
    long least = 0;
    for (int row = 0; row < places.rows(); row++) {
      long position = places.children().get(0).integer(row);
      long size = places.children().get(1).integer(row);
      valid[row] = size != 0 || position == 0;
      Refusal.need(size != 0 || position == 0 || position == 1, "an empty or a null blob");
      if (size != 0) {
        out.writeBytes(file.payload(position, size));
        Refusal.need(position >= least, "blobs in the order of their rows");
        least = position + 1;
      }
      ends[row + 1] = Bytes.limited(out.size());
    }
    return new Column(field.type(), places.rows(), valid, out.toByteArray(), ends, List.of());
  }
}
