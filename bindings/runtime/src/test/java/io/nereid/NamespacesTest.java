package io.nereid;

import static io.nereid.RepositoryFixture.BATCHING;
import static io.nereid.RepositoryFixture.NEGATING;
import static io.nereid.RepositoryFixture.answer;
import static io.nereid.RepositoryFixture.assertFails;
import static io.nereid.RepositoryFixture.ensemble;
import static io.nereid.RepositoryFixture.index;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.nereid.model.RepositoryOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models of the same name in different repositories. */
class NamespacesTest {

  private static final String AMBIGUOUS = "model namespace must be provided to resolve ambiguity";

  @TempDir Path directory;

  private RepositoryFixture one;
  private RepositoryFixture other;

  @BeforeEach
  void makeRepositories() throws IOException {
    one = new RepositoryFixture(Files.createDirectory(directory.resolve("one")));
    other = new RepositoryFixture(Files.createDirectory(directory.resolve("other")));
    one.model("inner", BATCHING, 1);
    other.model("inner", NEGATING, 1);
  }

  private RepositoryOptions.Builder options() {
    return one.options().repository(other.root()).namespacing(true);
  }

  @Test
  void anEnsembleHasTheModelOfItsOwnRepository() throws IOException {
    one.model("plain", ensemble("inner"), 1);
    other.model("negative", ensemble("inner"), 1);
    try (Nereid nereid = Nereid.open(options().build())) {
      assertEquals(
          List.of("inner/1 READY", "plain/1 READY", "inner/1 READY", "negative/1 READY"),
          index(nereid));
      assertEquals(5, answer(nereid.model("plain"), 5));
      assertEquals(-5, answer(nereid.model("negative"), 5));
      NereidException failure =
          assertFails(StatusCode.INVALID_ARGUMENT, AMBIGUOUS, () -> nereid.model("inner"));
      assertFalse(failure.getMessage().contains(directory.toString()), failure.getMessage());
      assertFails(StatusCode.INVALID_ARGUMENT, AMBIGUOUS, () -> nereid.model("inner", 1));
      assertEquals(one.root().toString(), nereid.model("plain").namespace());
    }
  }

  @Test
  void aStepMayNameTheRepository() throws IOException {
    String far =
        ensemble("inner").replace("model_version", "model_namespace: \"%s\" model_version");
    one.model("far", far.formatted(other.root()), 1);
    one.model("lost", far.formatted("/nowhere"), 1);
    try (Nereid nereid = Nereid.open(options().build())) {
      assertEquals(-5, answer(nereid.model("far"), 5));
      assertFails(StatusCode.UNAVAILABLE, "'lost' version 1", () -> nereid.model("lost"));
      assertEquals(
          "expected model_namespace to be the path of a model repository, got '/nowhere'",
          nereid.models().get(3).failure().orElseThrow());
    }
  }

  @Test
  void aNameThatIsUniqueIsFoundWhereverItIs() throws IOException {
    one.delete("inner");
    one.model("plain", ensemble("inner"), 1);
    try (Nereid nereid = Nereid.open(options().build())) {
      assertEquals(-5, answer(nereid.model("inner"), 5));
      assertEquals(-5, answer(nereid.model("plain"), 5));
      assertEquals(other.root().toString(), nereid.model("inner").namespace());
    }
  }

  @Test
  void loadingAndUnloadingMeanAllOfAName() throws IOException {
    other.model("negative", ensemble("inner"), 1);
    try (Nereid nereid = Nereid.open(options().explicit("negative").build())) {
      assertEquals(List.of("inner UNKNOWN", "inner/1 READY", "negative/1 READY"), index(nereid));
      assertEquals(-5, answer(nereid.model("inner"), 5));
      nereid.repository().load("inner");
      assertFails(StatusCode.INVALID_ARGUMENT, AMBIGUOUS, () -> nereid.model("inner"));
      nereid.repository().unload("inner");
      assertEquals(
          List.of("inner/1 UNAVAILABLE: unloaded", "inner/1 UNAVAILABLE: unloaded"),
          index(nereid).subList(0, 2));
      nereid.repository().load("negative");
      assertEquals(-5, answer(nereid.model("negative"), 5));
      nereid.repository().unload("negative", true);
      assertEquals("inner/1 UNAVAILABLE: unloaded", index(nereid).get(1));
    }
  }

  @Test
  void aNameIsUniqueAgainWhenTheOtherHasGone() throws IOException {
    try (Nereid nereid = Nereid.open(options().poll(Duration.ofDays(1)).build())) {
      assertFails(StatusCode.INVALID_ARGUMENT, AMBIGUOUS, () -> nereid.model("inner"));
      other.delete("inner");
      nereid.repository().poll();
      assertEquals(5, answer(nereid.model("inner"), 5));
    }
  }
}
