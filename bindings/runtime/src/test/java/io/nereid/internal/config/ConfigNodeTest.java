package io.nereid.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelConfiguration.Value;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The places of values, in each form of a list. */
class ConfigNodeTest {

  /** Path, line and column of every value that is written. */
  private static List<String> places(String text) {
    ConfigNode root = ConfigNode.parse(text, "f");
    return ConfigValues.of(root, Map.of()).stream()
        .filter(value -> value.origin() == Origin.FILE)
        .map(ConfigNodeTest::line)
        .toList();
  }

  private static String line(Value value) {
    return value.path() + " " + value.place().substring(value.place().indexOf(':') + 1);
  }

  @Test
  void messagesOneByOne() {
    assertEquals(
        List.of("input[0].name 1:9", "input[1].name 2:9", "input[1].dims 2:19"),
        places(
            """
            input { name: 'a' }
            input { name: 'b' dims: [ 1, 2 ] }
            """));
  }

  @Test
  void messagesOfWhichSomeHaveMoreThanOthersInBrackets() {
    assertEquals(
        List.of(
            "input[0].name 2:3",
            "input[1].name 3:3",
            "input[1].dims 3:13",
            "input[2].dims 4:3",
            "input[2].reshape.shape 4:21"),
        places(
            """
            input [ {
              name: 'a' }, {
              name: 'b' dims: [ 1, 2 ] }, {
              dims: 4 reshape { shape: [ 2, 2 ] } }
            ]
            """));
  }

  @Test
  void listsInBracketsWithinListsInBrackets() {
    assertEquals(
        List.of(
            "ensemble_scheduling.step[0].model_name 3:5",
            "ensemble_scheduling.step[0].input_map[\"A\"] 4:29",
            "ensemble_scheduling.step[0].input_map[\"B\"] 4:54",
            "ensemble_scheduling.step[1].model_name 6:5",
            "ensemble_scheduling.step[1].input_map[\"A\"] 7:27"),
        places(
                """
                ensemble_scheduling {
                  step [ {
                    model_name: 'x'
                    input_map [ { key: 'A'  value: 'a' }, { key: 'B' value: 'b' } ]
                  }, {
                    model_name: 'y'
                    input_map { key: 'A'  value: 'a' }
                  } ]
                }
                """)
            .stream()
            .map(place -> place.replace("].value", "]"))
            .toList());
  }

  @Test
  void aMixtureOfFormsIsStillFromTheFile() {
    List<String> places =
        places(
            """
            input { name: 'a' }
            input [ { name: 'b' }, { name: 'c' } ]
            """);
    assertEquals(3, places.size(), places::toString);
  }

  @Test
  void aWrittenValueIsSeenThoughItIsTheDefault() {
    assertEquals(List.of("max_batch_size 1:1"), places("max_batch_size: 0"));
  }
}
