import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A node of the schema of a file or a table (chapter 10, Schema).
 *
 * @param dictionary where the values of a dictionary of 0.1 lie, or null
 */
record Field(
    int id, String name, Type type, boolean nullable, Map<String, byte[]> metadata,
    Message dictionary) {

  static Field of(int id, String name, Type type, boolean nullable) {
    return new Field(id, name, type, nullable, Map.of(), null);
  }

  /** Returns the top-level fields of the flat list of `lance.file.Field`. */
  static List<Field> tree(List<Message> messages) {
    Set<Integer> ids = new HashSet<>();
    var children = new LinkedHashMap<Integer, List<Message>>();
    for (Message message : messages) {
      int id = message.int32(3), parent = message.int32(4);
      Refusal.need(parent == -1 || ids.contains(parent), "a parent is listed before its children");
      Refusal.need(ids.add(id) && id >= 0, "field ids are unique");
      children.computeIfAbsent(parent, key -> new ArrayList<>()).add(message);
    }
    var fields = build(-1, children, 0);
    Set<String> names = new HashSet<>();
    for (Field field : fields) {
      boolean valid = names.add(field.name) && !field.name.contains(".");
      Refusal.need(valid, "a top-level name is used once, without a dot");
    }
    return fields;
  }

  private static List<Field> build(int parent, Map<Integer, List<Message>> children, int depth) {
    Refusal.need(depth < 64, "fields nested too deep");
    var fields = new ArrayList<Field>();
    for (Message one : children.getOrDefault(parent, List.of())) {
      List<Field> below = build(one.int32(3), children, depth + 1);
      Type type = Type.of(one.text(5), below);
      Message dictionary = one.has(8) ? one.message(8) : null;
      fields.add(
          new Field(one.int32(3), one.text(2), type, one.bool(6), one.map(10), dictionary));
    }
    return fields;
  }

  boolean says(String key) {
    return "true".equalsIgnoreCase(Bytes.text(metadata.getOrDefault(key, new byte[0])));
  }

  boolean isPacked() {
    String key = metadata.containsKey("packed") ? "packed" : "lance-encoding:packed";
    return type.name().equals("struct") && says(key);
  }

  boolean isBlob() {
    return says("lance-encoding:blob");
  }
}
