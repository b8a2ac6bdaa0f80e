import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Filters in SQL: a text becomes a tree of expressions that are evaluated row by row. */
final class Sql {
  /** What a filter asks of a row. Null is unknown, in values and in answers. */
  interface Row {
    /** Returns a value: Long, Double, String, Boolean or null. */
    Object value(String column);

    /** Returns the answer that an index has to a condition on a column, else that of the value. */
    default Object answer(Condition condition) {
      return condition.test(value(condition.column));
    }
  }

  interface Expression {
    Object of(Row row);
  }

  /** A condition on one column: true for values that pass, null for null, or the other way round. */
  record Condition(String column, boolean isNull, Object low, Object high, Predicate<Object> passes)
      implements Expression {
    @Override
    public Object of(Row row) {
      return row.answer(this);
    }

    Object test(Object value) {
      if (isNull) return value == null;
      return value == null ? null : (Object) passes.test(value);
    }
  }

  private record Column(String name) implements Expression {
    @Override
    public Object of(Row row) {
      return row.value(name);
    }
  }

  private record Literal(Object value) implements Expression {
    @Override
    public Object of(Row row) {
      return value;
    }
  }

  private static final Pattern TOKEN = Pattern.compile(
      "\\s*('(?:[^']|'')*'|\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?|[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*"
          + "|<=|>=|!=|<>|[-+*/%()=<>,])");
  private static final Set<String> COMPARISONS = Set.of("=", "!=", "<>", "<", "<=", ">", ">=");

  private final List<String> tokens = new ArrayList<>();
  private int at;

  private Sql(String text) {
    Matcher matcher = TOKEN.matcher(text);
    int end = 0;
    while (matcher.find() && matcher.start() == end) {
      tokens.add(matcher.group(1));
      end = matcher.end();
    }
    if (!text.substring(end).isBlank()) throw Refusal.unsupported("sql");
  }

  static Expression parse(String text) {
    var sql = new Sql(text);
    Expression found = sql.or();
    if (sql.at < sql.tokens.size()) throw Refusal.unsupported("sql");
    return found;
  }

  private boolean take(String... words) {
    for (int i = 0; i < words.length; i++) {
      if (at + i >= tokens.size() || !tokens.get(at + i).equalsIgnoreCase(words[i])) return false;
    }
    at += words.length;
    return true;
  }

  private void expect(String word) {
    if (!take(word)) throw Refusal.unsupported("sql");
  }

  private Expression or() {
    Expression left = and();
    return take("OR") ? logical(left, or(), true) : left;
  }

  private Expression and() {
    Expression left = not();
    return take("AND") ? logical(left, and(), false) : left;
  }

  /** Returns AND or OR of three values, where one side decides when it is `decisive`. */
  private static Expression logical(Expression left, Expression right, boolean decisive) {
    return row -> {
      Object one = left.of(row), other = right.of(row);
      if (Boolean.valueOf(decisive).equals(one) || Boolean.valueOf(decisive).equals(other)) {
        return decisive;
      }
      return one == null || other == null ? null : (Object) !decisive;
    };
  }

  private Expression not() {
    return take("NOT") ? negated(not()) : predicate();
  }

  private static Expression negated(Expression inner) {
    return row -> inner.of(row) instanceof Boolean found ? (Object) !found : null;
  }

  private Expression predicate() {
    Expression left = sum();
    if (at == tokens.size()) return left;
    if (take("IS", "NOT", "NULL")) return negated(isNull(left));
    if (take("IS", "NULL")) return isNull(left);
    if (take("NOT", "IN")) return negated(among(left));
    if (take("IN")) return among(left);
    if (take("NOT", "BETWEEN")) return negated(between(left));
    if (take("BETWEEN")) return between(left);
    if (take("LIKE")) return like(left);
    String operator = tokens.get(at);
    if (!COMPARISONS.contains(operator)) return left;
    at++;
    return comparison(left, operator, sum());
  }

  private static Expression isNull(Expression left) {
    if (left instanceof Column column) return new Condition(column.name, true, null, null, null);
    return row -> left.of(row) == null;
  }

  private Expression among(Expression left) {
    expect("(");
    Expression found = comparison(left, "=", sum());
    while (take(",")) found = logical(found, comparison(left, "=", sum()), true);
    expect(")");
    return found;
  }

  private Expression between(Expression left) {
    Expression low = sum();
    expect("AND");
    return logical(comparison(left, ">=", low), comparison(left, "<=", sum()), false);
  }

  private Expression like(Expression left) {
    if (!(left instanceof Column column && sum() instanceof Literal literal)) {
      throw Refusal.unsupported("sql");
    }
    var pattern = new StringBuilder("(?s)");
    for (char next : ((String) literal.value).toCharArray()) {
      pattern.append(next == '%' ? ".*" : next == '_' ? "." : Pattern.quote(String.valueOf(next)));
    }
    Pattern compiled = Pattern.compile(pattern.toString());
    return new Condition(column.name, false, null, null,
        value -> compiled.matcher((String) value).matches());
  }

  private static Expression comparison(Expression left, String operator, Expression right) {
    if (left instanceof Column column && right instanceof Literal literal && literal.value != null) {
      Object value = literal.value;
      Object low = "= > >=".contains(operator) ? value : null;
      Object high = "= < <=".contains(operator) ? value : null;
      return new Condition(column.name, false, low, high,
          each -> holds(operator, compare(each, value)));
    }
    return row -> {
      Object one = left.of(row), other = right.of(row);
      return one == null || other == null ? null : (Object) holds(operator, compare(one, other));
    };
  }

  private static boolean holds(String operator, int order) {
    return switch (operator) {
      case "=" -> order == 0;
      case "<" -> order < 0;
      case "<=" -> order <= 0;
      case ">" -> order > 0;
      case ">=" -> order >= 0;
      default -> order != 0;
    };
  }

  /** Compares two values as the order of values says (chapter 62), but that the zeros are equal. */
  static int compare(Object one, Object other) {
    if (one instanceof Long a && other instanceof Long b) return Long.compare(a, b);
    if (one instanceof Number a && other instanceof Number b) {
      return Long.compare(rank(a.doubleValue()), rank(b.doubleValue()));
    }
    if (one instanceof String a && other instanceof String b) return a.compareTo(b);
    if (one instanceof Boolean a && other instanceof Boolean b) return Boolean.compare(a, b);
    throw Refusal.unsupported("sql");
  }

  /** Returns a number by which floats are in the total order of IEEE 754. */
  private static long rank(double value) {
    long bits = Double.doubleToRawLongBits(value + 0.0);
    return bits ^ bits >> 63 & Long.MAX_VALUE;
  }

  private Expression sum() {
    Expression left = product();
    while (at < tokens.size() && "+-".contains(tokens.get(at))) {
      left = arithmetic(left, tokens.get(at++), product());
    }
    return left;
  }

  private Expression product() {
    Expression left = factor();
    while (at < tokens.size() && "*/%".contains(tokens.get(at))) {
      left = arithmetic(left, tokens.get(at++), factor());
    }
    return left;
  }

  private static Expression arithmetic(Expression left, String operator, Expression right) {
    return row -> {
      if (!(left.of(row) instanceof Long one && right.of(row) instanceof Long other)) {
        return null;
      }
      return switch (operator) {
        case "+" -> one + other;
        case "-" -> one - other;
        case "*" -> one * other;
        case "/" -> other == 0 ? null : (Object) (one / other);
        default -> other == 0 ? null : (Object) (one % other);
      };
    };
  }

  private Expression factor() {
    if (take("(")) {
      Expression inner = or();
      expect(")");
      return inner;
    }
    if (at == tokens.size()) throw Refusal.unsupported("sql");
    boolean negative = take("-");
    String token = tokens.get(at++);
    if (token.matches("\\d+")) return new Literal((negative ? -1 : 1) * Long.parseLong(token));
    if (token.matches("\\d.*")) return new Literal((negative ? -1 : 1) * Double.parseDouble(token));
    if (token.startsWith("'")) {
      return new Literal(token.substring(1, token.length() - 1).replace("''", "'"));
    }
    return switch (token.toUpperCase(Locale.ROOT)) {
      case "TRUE" -> new Literal(true);
      case "FALSE" -> new Literal(false);
      case "NULL" -> new Literal(null);
      default -> {
        if (!token.matches("\\w.*") || take("(")) throw Refusal.unsupported("sql");
        yield new Column(token);
      }
    };
  }
}
