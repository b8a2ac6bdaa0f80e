import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The type of a column, from `logical_type` (chapter 10, Schema).
 *
 * @param name the part of the logical type before its parameters
 * @param bits width of a value, 0 for null, -1 where values have no fixed width
 * @param size parameter of fixed_size_binary, decimal (its bits) and fixed_size_list (dimension)
 * @param children fields of a struct, the item of a list, values of a dictionary
 */
record Type(
    String name, int bits, String unit, String zone, int precision, int scale, int size,
    List<Field> children) {

  private static final Map<String, Integer> NUMBERS = Map.ofEntries(
      Map.entry("null", 0), Map.entry("bool", 1), Map.entry("int8", 8), Map.entry("uint8", 8),
      Map.entry("int16", 16), Map.entry("uint16", 16), Map.entry("int32", 32),
      Map.entry("uint32", 32), Map.entry("int64", 64), Map.entry("uint64", 64),
      Map.entry("halffloat", 16), Map.entry("float", 32), Map.entry("double", 64));
  private static final Set<String> VARIABLE =
      Set.of("string", "large_string", "binary", "large_binary", "json");
  private static final Map<String, Set<String>> UNITS = Map.of(
      "date32", Set.of("day"), "date64", Set.of("ms"), "time32", Set.of("s", "ms"),
      "time64", Set.of("us", "ns"), "duration", Set.of("s", "ms", "us", "ns"));

  static Type plain(String name, int bits) {
    return new Type(name, bits, "", "", 0, 0, 0, List.of());
  }

  /** Returns the type that a text names. Refuses a text that names none (L.file.schema.logical-type). */
  static Type of(String text, List<Field> children) {
    String[] parts = text.split(":", 2);
    String name = parts[0], rest = parts.length > 1 ? parts[1] : "";
    boolean leaf = true;
    Type type = null;
    if (NUMBERS.containsKey(text)) type = plain(text, NUMBERS.get(text));
    if (VARIABLE.contains(text)) type = plain(text, -1);
    if (UNITS.getOrDefault(name, Set.of()).contains(rest)) {
      type = new Type(name, name.endsWith("32") ? 32 : 64, rest, "", 0, 0, 0, List.of());
    }
    if (name.equals("timestamp") && rest.matches("(s|ms|us|ns):.+")) {
      String[] unit = rest.split(":", 2);
      type = new Type(name, 64, unit[0], unit[1].equals("-") ? "" : unit[1], 0, 0, 0, List.of());
    }
    if (name.equals("decimal") && rest.matches("(128|256):\\d{1,2}:-?\\d{1,3}")) {
      String[] numbers = rest.split(":");
      int bits = Integer.parseInt(numbers[0]), precision = Integer.parseInt(numbers[1]);
      Refusal.need(precision > 0 && precision <= (bits == 128 ? 38 : 76), text);
      type = new Type(name, bits, "", "", precision, Integer.parseInt(numbers[2]), bits, List.of());
    }
    if (name.equals("fixed_size_binary") && rest.matches("\\d{1,8}")) {
      int size = Integer.parseInt(rest);
      type = new Type(name, 8 * size, "", "", 0, 0, size, List.of());
    }
    if (name.equals("fixed_size_list")) return fixedSizeList(rest, children);
    if (name.equals("dict")) type = dictionary(rest);
    if (text.equals("struct")) {
      type = new Type("struct", -1, "", "", 0, 0, 0, children);
      leaf = false;
    }
    if (text.matches("(large_)?list(\\.struct)?")) {
      Refusal.need(children.size() == 1, "a list has one child");
      type = new Type(text.replace(".struct", ""), -1, "", "", 0, 0, 0, children);
      leaf = false;
    }
    Refusal.need(type != null, "no type is called " + text);
    Refusal.need(!leaf || children.isEmpty(), "a leaf has no children");
    return type;
  }

  private static Type fixedSizeList(String rest, List<Field> children) {
    int colon = rest.lastIndexOf(':');
    boolean valid = colon > 0 && rest.substring(colon + 1).matches("\\d{1,8}");
    Refusal.need(valid, "no fixed-size list");
    String inner = rest.substring(0, colon);
    Refusal.need(children.isEmpty(), "a fixed-size list of values has no children");
    Type item = inner.equals("lance.bfloat16") ? of("fixed_size_binary:2", List.of())
        : of(inner, List.of());
    int size = Integer.parseInt(rest.substring(colon + 1));
    Refusal.need(item.bits > 0, "a fixed-size list of values without a width");
    int bits = Bytes.limited((long) item.bits * size);
    return new Type("fixed_size_list", bits, "", "", 0, 0, size,
        List.of(Field.of(-1, "item", item, true)));
  }

  private static Type dictionary(String rest) {
    int last = rest.lastIndexOf(':'), middle = last < 0 ? -1 : rest.lastIndexOf(':', last - 1);
    Refusal.need(middle > 0 && rest.substring(last + 1).matches("true|false"), "no dictionary");
    Type keys = of(rest.substring(middle + 1, last), List.of());
    Refusal.need(keys.name.matches("u?int(8|16|32|64)"), "keys that are no integers");
    Field values = Field.of(-1, "values", of(rest.substring(0, middle), List.of()), true);
    return new Type("dict", keys.bits, keys.name, "", 0, 0, 0, List.of(values));
  }

  boolean isVariable() {
    return VARIABLE.contains(name);
  }

  boolean isText() {
    return name.endsWith("string");
  }

  boolean isList() {
    return name.equals("list") || name.equals("large_list");
  }

  boolean isLarge() {
    return name.startsWith("large_") || name.equals("json");
  }

  /** Returns the bytes that a value takes in memory, where a boolean takes one. */
  int width() {
    if (name.equals("fixed_size_list")) return 0;
    return bits == 1 ? 1 : bits / 8;
  }

  /** Returns the type that values of this type have once read: of a dictionary that of its items. */
  Type stored() {
    return name.equals("dict") ? item().type() : this;
  }

  Field item() {
    return children.get(0);
  }
}
