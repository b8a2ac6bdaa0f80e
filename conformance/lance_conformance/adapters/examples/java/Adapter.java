import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * An adapter of the protocol in Java 17, with a reader that was written from the specification.
 *
 * <pre>
 * javac -d classes *.java
 * lance-conformance run -- java -cp classes Adapter
 * </pre>
 */
public final class Adapter {
  private static final List<Object> VERSIONS = List.of("0.1", "2.0");

  private Adapter() {}

  public static void main(String[] args) throws IOException {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Map<String, Object> request = Json.object(Json.parse(line));
      if (request.get("op").equals("bye")) return;
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("id", request.get("id"));
      try {
        answer.put("ok", answer(request));
      } catch (Refusal refusal) {
        answer.put(refusal.missing == null ? "reject" : "unsupported", refusal.missing == null
            ? Map.of("stage", "unknown", "kind", "other", "message", refusal.getMessage())
            : Map.of("feature", refusal.missing));
      }
      out.println(Json.write(answer));
    }
  }

  private static Object answer(Map<String, Object> request) {
    return switch ((String) request.get("op")) {
      case "hello" -> hello();
      case "file.inspect" -> inspect(request);
      case "file.read" -> readFile(request);
      case "dataset.read", "index.search" -> readTable(request);
      case "reset" -> Map.of();
      default -> throw Refusal.unsupported("operation");
    };
  }

  private static Object hello() {
    return Map.of(
        "protocol", 1L,
        "implementation", Map.of("name", "example-java", "version", "1", "language", "java"),
        "capabilities", Map.of(
            "file.inspect", Map.of("versions", List.of("2.0")),
            "file.read", Map.of("versions", List.of("2.0"), "projection", List.of("top"),
                "ranges", true, "rows", true),
            "dataset.read", Map.of("versions", VERSIONS, "projection", List.of("top"),
                "limit", true, "filter", true),
            "index.search", Map.of("versions", List.of("0.1", "2.0", "2.1", "2.2"), "filter", true, "nearest", true,
                "types", List.of("BTREE", "BITMAP", "IVF_FLAT", "IVF_PQ"))),
        "flags", Map.of("reader_known", String.valueOf(Table.FLAGS)),
        "features", Map.of("exclude", List.of("base-paths", "branch", "tag", "overlays")));
  }

  private static Object inspect(Map<String, Object> request) {
    DataFile file = DataFile.open(Path.of((String) request.get("path")));
    return Map.of("version", file.version, "num_rows", String.valueOf(file.rows),
        "global_buffers", (long) file.numGlobals());
  }

  private static Object readFile(Map<String, Object> request) {
    DataFile file = DataFile.open(Path.of((String) request.get("path")));
    if (!file.version.equals("2.0")) throw Refusal.unsupported("version");
    List<Column> columns = FileReader.read(file);
    int[] positions = positions(request, (int) file.rows);
    var fields = new ArrayList<Field>();
    var found = new ArrayList<Column>();
    for (String name : names(request, file.fields)) {
      int at = 0;
      while (at < columns.size() && !file.fields.get(at).name().equals(name)) at++;
      Refusal.need(at < columns.size(), "no column " + name);
      fields.add(file.fields.get(at));
      found.add(positions == null ? columns.get(at) : columns.get(at).take(positions));
    }
    return written(request, fields, found, positions == null ? (int) file.rows : positions.length);
  }

  private static Object readTable(Map<String, Object> request) {
    var table = new Table(Path.of((String) request.get("uri")), (String) request.get("version"));
    boolean isSearch = request.get("op").equals("index.search");
    boolean withIndex = isSearch && !Boolean.FALSE.equals(request.get("use_index"));
    var search = new Search(table, withIndex);
    int[] rows = IntStream.range(0, table.rows()).toArray();
    if (request.get("filter") != null) {
      String sql = (String) Json.object(request.get("filter")).get("sql");
      rows = search.passing(sql).stream().mapToInt(Integer::intValue).toArray();
    }
    var answer = new LinkedHashMap<String, Column>();
    if (request.get("nearest") != null) {
      var nearest = new Nearest(table, Json.object(request.get("nearest")));
      List<Nearest.Hit> hits = nearest.search(rows, withIndex);
      rows = hits.stream().mapToInt(Nearest.Hit::row).toArray();
      var distances = Bytes.allocate(4L * rows.length);
      for (Nearest.Hit hit : hits) distances.putFloat((float) hit.distance());
      Type type = Type.of("float", List.of());
      answer.put("_distance", Column.fixed(type, rows.length, null, distances.array()));
      search.used |= nearest.used;
    }
    long first = number(request, "offset", 0), most = number(request, "limit", Long.MAX_VALUE);
    int[] kept = Arrays.stream(rows).skip(first).limit(most).toArray();
    Map<String, Object> ok = new LinkedHashMap<>(project(request, table, kept, answer));
    if (isSearch) ok.put("used", search.used);
    return ok;
  }

  /** Writes the columns that a request names, of some live rows; `answer` has what is computed. */
  private static Map<String, Object> project(
      Map<String, Object> request, Table table, int[] rows, Map<String, Column> answer) {
    var fields = new ArrayList<Field>();
    var columns = new ArrayList<Column>();
    for (String name : names(request, table.fields)) {
      boolean computed = answer.containsKey(name);
      Field field = computed ? Field.of(-1, name, answer.get(name).type(), true)
          : Table.find(table.fields, name);
      Column column = computed ? answer.get(name) : table.column(field).take(rows);
      columns.add(field.type().name().equals("json") ? Jsonb.texts(column) : column);
      fields.add(field);
    }
    for (Object name : request.get("with") == null ? List.of() : Json.list(request.get("with"))) {
      long[] keys = table.keys(name.equals("_rowaddr"));
      var data = Bytes.allocate(8L * rows.length);
      for (int row : rows) data.putLong(keys[row]);
      fields.add(Field.of(-1, (String) name, Encodings.UINT64, true));
      columns.add(Column.fixed(Encodings.UINT64, rows.length, null, data.array()));
    }
    return written(request, fields, columns, rows.length);
  }

  private static long number(Map<String, Object> request, String name, long absent) {
    return request.get(name) == null ? absent : Long.parseLong((String) request.get(name));
  }

  private static List<String> names(Map<String, Object> request, List<Field> fields) {
    if (request.get("columns") == null) return fields.stream().map(Field::name).toList();
    return Json.list(request.get("columns")).stream().map(name -> (String) name).toList();
  }

  /** Returns the rows that a request asks for, or null where it asks for all. */
  private static int[] positions(Map<String, Object> request, int rows) {
    var found = new ArrayList<Integer>();
    if (request.get("rows") != null) {
      for (Object row : Json.list(request.get("rows"))) found.add(position(row, rows - 1));
    } else if (request.get("ranges") != null) {
      for (Object range : Json.list(request.get("ranges"))) {
        int end = position(Json.list(range).get(1), rows);
        for (int row = position(Json.list(range).get(0), rows); row < end; row++) found.add(row);
      }
    } else {
      return null;
    }
    return found.stream().mapToInt(Integer::intValue).toArray();
  }

  private static int position(Object text, int most) {
    long position = Long.parseLong(String.valueOf(text));
    Refusal.need(position >= 0 && position <= most, "a row that the file does not have");
    return (int) position;
  }

  private static Map<String, Object> written(
      Map<String, Object> request, List<Field> fields, List<Column> columns, int rows) {
    String out = (String) request.get("out");
    Arrow.write(Path.of(out), fields, columns, rows);
    return Map.of("out", out, "num_rows", String.valueOf(rows));
  }
}
