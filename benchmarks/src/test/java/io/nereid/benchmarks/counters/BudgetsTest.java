package io.nereid.benchmarks.counters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BudgetsTest {

  @TempDir private Path directory;

  private Budgets budgets(String text) throws IOException {
    return Budgets.read(Files.writeString(directory.resolve("budgets.txt"), text));
  }

  @Test
  void figuresOverBudgetFailAndSayHowToGoOn() throws IOException {
    Budgets budgets = budgets("# a comment\nheap 300 bytes a request # why\ncalls 3 calls\n");
    Budgets.Judgement judgement = budgets.judge(Map.of("heap", 301.0, "calls", 3.0));
    assertEquals(1, judgement.failures().size());
    String failure = judgement.failures().getFirst();
    assertTrue(
        failure.contains("heap is over its budget: expected at most 300 bytes a request, got 301"),
        failure);
    assertTrue(failure.contains("budgets.txt"), failure);
    assertEquals(2, judgement.lines().size());
  }

  @Test
  void figuresFarBelowTheBudgetAreToldAndFine() throws IOException {
    Budgets.Judgement judgement =
        budgets("heap 300 bytes\ncalls 0.5 calls\n").judge(Map.of("heap", 200.0, "calls", 0.0));
    assertEquals(List.of(), judgement.failures());
    assertEquals(1, judgement.hints().size());
    assertTrue(judgement.hints().getFirst().contains("lower the budget"));
  }

  @Test
  void aCounterWithoutABudgetFailsAndABudgetWithoutACounterIsKnown() throws IOException {
    Budgets budgets = budgets("heap 300 bytes\n");
    assertEquals(1, budgets.judge(Map.of("other", 1.0)).failures().size());
    assertEquals(List.of("heap"), budgets.uncounted(Map.of("other", 1.0)));
  }

  @Test
  void aLineThatIsNoneIsTold() {
    IOException e = assertThrows(IOException.class, () -> budgets("heap many bytes\n"));
    assertTrue(e.getMessage().contains("name budget unit"), e::getMessage);
  }

  @Test
  void theBudgetsOfTheProjectCanBeRead() throws IOException {
    assertTrue(Budgets.read(Path.of("budgets.txt")).budgets().size() > 10);
  }
}
