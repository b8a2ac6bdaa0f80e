/** The input breaks the format, or asks for what this reader does not have: a controlled refusal. */
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The feature that is missing, or null where the bytes are wrong. */
  final String missing;

  private Refusal(String message, String missing) {
    super(message, null, false, false);
    this.missing = missing;
  }

  /** Returns the refusal of bytes that are not supported, though they may be valid. */
  static Refusal unsupported(String feature) {
    return new Refusal("not supported: " + feature, feature);
  }

  /** Returns the refusal of bytes that are wrong. */
  static Refusal invalid(String message) {
    return new Refusal(message, null);
  }

  /** Refuses the input unless a condition holds. */
  static void need(boolean condition, String message) {
    if (!condition) throw invalid(message);
  }
}
