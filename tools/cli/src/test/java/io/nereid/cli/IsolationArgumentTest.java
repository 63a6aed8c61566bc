package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code --isolation}, wherever it may stand. */
class IsolationArgumentTest {

  private final CommandLineRun cli = new CommandLineRun();

  @Test
  void configShowsItAndThatItIsOfTheCommandLine() {
    assertEquals(0, cli.run("config", "digits", "--isolation=*=process"), cli.err());
    assertTrue(cli.out().matches("(?s).*string_value: \"process\" +# --isolation\n.*"), cli.out());
  }

  @Test
  void aModelAnswersFromAnotherProcess() {
    assertEquals(
        0,
        cli.run("infer", "identity_fp32", "--isolation=*=process", "--input", "INPUT0=1.5,2"),
        cli.err());
    assertTrue(cli.out().contains("1.5"), cli.out());
  }

  @ParameterizedTest
  @CsvSource({
    "digits, 'expected --isolation MODEL=process, got ''digits'''",
    "digits=thread, 'expected --isolation MODEL=process, MODEL=process:GROUP or MODEL=none, got ''digits=thread'''"
  })
  void wrongTextsAreTold(String text, String message) {
    assertEquals(2, cli.run("models", "--isolation", text), cli.err());
    assertTrue(cli.err().contains(message), cli.err());
  }
}
