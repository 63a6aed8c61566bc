package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.NereidException;
import io.nereid.backends.RepeatModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.jr.ob.JSON;

/** What {@code nereid infer} prints for a model with many responses. */
class ResponsePrinterTest {

  private final StringWriter out = new StringWriter();
  private final ResponsePrinter printer = new ResponsePrinter(new PrintWriter(out, true));

  @Test
  void responsesFollowEachOther() throws IOException {
    try (Nereid nereid = Nereid.create()) {
      Model model = nereid.load(RepeatModel.spec());
      try (var request = RepeatModel.request(model, 0, 0, 7, -8);
          var stream = request.inferStream()) {
        printer.print(model, stream, false);
      }
    }
    assertEquals(
        """
        OUT INT32[1]: 7
        IDX UINT32[1]: 0
        OUT INT32[1]: -8
        IDX UINT32[1]: 1
        """,
        out.toString());
  }

  @Test
  void whatCameBeforeAFailureIsPrinted() {
    try (Nereid nereid = Nereid.create()) {
      Model model = nereid.load(RepeatModel.spec());
      try (var request = RepeatModel.request(model, 0, 60_000, 7).deadline(Duration.ofMillis(100));
          var stream = request.inferStream()) {
        assertThrows(NereidException.class, () -> printer.print(model, stream, false));
      }
    }
    assertEquals("OUT INT32[1]: 7\nIDX UINT32[1]: 0\n", out.toString());
  }

  @Test
  void jsonIsAnArray() throws IOException {
    try (Nereid nereid = Nereid.create()) {
      Model model = nereid.load(RepeatModel.spec());
      try (var request = RepeatModel.request(model, 0, 0, 7, -8);
          var stream = request.inferStream()) {
        printer.print(model, stream, true);
      }
    }
    List<Object> replies = JSON.std.listFrom(out.toString());
    assertEquals(2, replies.size());
    Map<?, ?> reply = (Map<?, ?>) replies.get(1);
    assertEquals("repeat", reply.get("model_name"));
    Map<?, ?> first = (Map<?, ?>) ((List<?>) reply.get("outputs")).getFirst();
    assertEquals(List.of(-8), first.get("data"));
  }
}
