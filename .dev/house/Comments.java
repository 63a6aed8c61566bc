package house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Counts the sentences of comments that begin with What, Who, Of, By and their like, tests left out. */
final class Comments {

  private static final Pattern COMMENT = Pattern.compile("\\s*(?:/\\*+|\\*/?|//+)\\s?(.*)");
  private static final Pattern TAG = Pattern.compile("@\\w+(?:\\s+\\S+)?\\s*(.*)");
  private static final Pattern END = Pattern.compile("(?<=[.!?])\\s+");
  private static final Pattern NO_SUBJECT =
      Pattern.compile(
          "(?:What|Who|Whoever|Whose|Which|Where|How|Why|Whether|Of|By|As|Those)\\b.*");

  private final List<String> without = new ArrayList<>();
  private long sentences;

  private Comments() {}

  /** Counts a tree, and shows in how many of a thousand sentences the subject has to be looked for. */
  static Figure figure(Path root, Stream<List<String>> java) throws IOException {
    Comments comments = new Comments();
    java.forEach(comments::read);
    Path folder = root.resolve("native");
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(Core::isCounted).toList()) {
          comments.read(Files.readAllLines(file));
        }
      }
    }
    return new Figure(
        "sentences of comments without a subject, in a thousand",
        Math.round(1000.0 * comments.without.size() / Math.max(1, comments.sentences)),
        "A sentence begins with its subject, or with the condition under which it holds.",
        comments.without);
  }

  private void read(List<String> lines) {
    StringBuilder block = new StringBuilder();
    for (String line : lines) {
      var comment = COMMENT.matcher(line);
      if (!comment.matches()) {
        end(block);
        continue;
      }
      var tag = TAG.matcher(comment.group(1));
      if (tag.matches() || comment.group(1).isBlank()) {
        end(block);
      }
      block.append(tag.matches() ? tag.group(1) : comment.group(1)).append(' ');
    }
    end(block);
  }

  private void end(StringBuilder block) {
    for (String sentence : END.split(block.toString().replace("*/", "").strip())) {
      if (!sentence.isBlank()) {
        sentences++;
        if (NO_SUBJECT.matcher(sentence).matches()) {
          without.add(sentence);
        }
      }
    }
    block.setLength(0);
  }
}
