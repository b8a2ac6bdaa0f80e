import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON text from and to maps, lists, strings, numbers (Long, Double), booleans and null. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    var parser = new Json(text);
    Object value = parser.value(0);
    parser.blanks();
    Refusal.need(parser.at == text.length(), "text after the JSON value");
    return value;
  }

  /** Returns the object that a text is. Refuses other values. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    Refusal.need(value instanceof Map, "JSON that is no object");
    return (Map<String, Object>) value;
  }

  @SuppressWarnings("unchecked")
  static List<Object> list(Object value) {
    Refusal.need(value instanceof List, "JSON that is no list");
    return (List<Object>) value;
  }

  private void blanks() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
  }

  private boolean take(String token) {
    blanks();
    if (!text.startsWith(token, at)) return false;
    at += token.length();
    return true;
  }

  private void expect(String token) {
    Refusal.need(take(token), "JSON without " + token);
  }

  private Object value(int depth) {
    Refusal.need(depth < 100, "JSON nested too deep");
    if (take("{")) {
      var object = new LinkedHashMap<String, Object>();
      if (take("}")) return object;
      do {
        expect("\"");
        String key = string();
        expect(":");
        object.put(key, value(depth + 1));
      } while (take(","));
      expect("}");
      return object;
    }
    if (take("[")) {
      var list = new ArrayList<Object>();
      if (take("]")) return list;
      do list.add(value(depth + 1)); while (take(","));
      expect("]");
      return list;
    }
    if (take("\"")) return string();
    if (take("true")) return true;
    if (take("false")) return false;
    if (take("null")) return null;
    return number();
  }

  private Object number() {
    int start = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
    String number = text.substring(start, at);
    Refusal.need(number.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?"), "no JSON value");
    if (number.matches("-?\\d{1,18}")) return Long.parseLong(number);
    return Double.parseDouble(number);
  }

  private String string() {
    var found = new StringBuilder();
    while (true) {
      Refusal.need(at < text.length(), "a JSON string without end");
      char next = text.charAt(at++);
      if (next == '"') return found.toString();
      Refusal.need(next >= 32, "a control character in a JSON string");
      if (next != '\\') {
        found.append(next);
        continue;
      }
      Refusal.need(at < text.length(), "a JSON string without end");
      char code = text.charAt(at++);
      int known = "\"\\/bfnrt".indexOf(code);
      if (known >= 0) {
        found.append("\"\\/\b\f\n\r\t".charAt(known));
      } else {
        boolean hex = code == 'u' && text.substring(at).matches("(?s)[0-9a-fA-F]{4}.*");
        Refusal.need(hex, "an escape that JSON does not have");
        found.append((char) Integer.parseInt(text, at, at += 4, 16));
      }
    }
  }

  static String write(Object value) {
    if (value instanceof Map<?, ?> map) {
      var parts = new ArrayList<String>();
      map.forEach((key, each) -> parts.add(write(key) + ":" + write(each)));
      return "{" + String.join(",", parts) + "}";
    }
    if (value instanceof List<?> list) {
      return "[" + String.join(",", list.stream().map(Json::write).toList()) + "]";
    }
    if (!(value instanceof String string)) return String.valueOf(value);
    var quoted = new StringBuilder("\"");
    for (char next : string.toCharArray()) {
      if (next == '"' || next == '\\') quoted.append('\\').append(next);
      else if (next < 32 || next > 126) quoted.append(String.format("\\u%04x", (int) next));
      else quoted.append(next);
    }
    return quoted.append('"').toString();
  }
}
