package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The choice of the profile for a batch. */
class ProfileSelectorTest {

  private static final long[][] NO_VALUES = new long[2][];

  private static ProfileSelector classifier(String... named) {
    return new ProfileSelector("m", RecordedEngines.classifier(), List.of(named));
  }

  private static long[][] images(long rows) {
    return new long[][] {{rows, 3, 8, 8}};
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "2, 0", "4, 0", "5, 1", "16, 1", "32, 1"})
  void theNearestOptimumWinsAmongThoseThatAllowTheShapes(long rows, int profile) {
    assertEquals(profile, classifier().select(images(rows), NO_VALUES).index());
  }

  @Test
  void onlyThoseThatAreNamedAreChosenFrom() {
    assertEquals(1, classifier("1").select(images(2), NO_VALUES).index());
    assertEquals(2, classifier("1", "0").profiles().size());
  }

  @Test
  void shapesThatNoProfileAllowsAreRefusedWithTheAllowedOnes() {
    NereidException e =
        assertThrows(NereidException.class, () -> classifier().select(images(33), NO_VALUES));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    assertEquals(
        "no optimization profile allows the shapes: got image [33, 3, 8, 8]; expected in profile 0:"
            + " image [1, 3, 8, 8] to [4, 3, 8, 8]; in profile 1: image [2, 3, 8, 8] to"
            + " [32, 3, 8, 8]",
        e.getMessage());
  }

  @Test
  void anotherRankIsRefused() {
    assertThrows(
        NereidException.class, () -> classifier().select(new long[][] {{1, 3, 64}}, NO_VALUES));
  }

  @Test
  void valuesThatShapesComeFromMustBeAllowedToo() {
    ProfileSelector selector = new ProfileSelector("m", RecordedEngines.reshaping(), List.of());
    long[][] shapes = {{12}, {2}};
    assertEquals(0, selector.select(shapes, new long[][] {null, {3, 4}}).index());
    NereidException e =
        assertThrows(
            NereidException.class, () -> selector.select(shapes, new long[][] {null, {1, 12}}));
    assertEquals(
        "no optimization profile allows the shapes: got data [12], shape [2] holding [1, 12];"
            + " expected in profile 0: data [1] to [64], shape [2] to [2] holding [1, 1] to [8, 8]",
        e.getMessage());
  }

  private static ModelSpec rows(long maxBatchSize) {
    return ModelSpec.builder("m").backend("tensorrt").maxBatchSize(maxBatchSize).build();
  }

  @Test
  void noBatchMayBeLargerThanTheProfilesOfItsInstance() {
    classifier().checkBatchSize(rows(32));
    classifier("0").checkBatchSize(rows(4));
    NereidException e =
        assertThrows(NereidException.class, () -> classifier("0").checkBatchSize(rows(5)));
    assertEquals(
        "model 'm': expected a max_batch_size of at most 4, which is what the profiles [0] of the"
            + " instance group allow, got 5",
        e.getMessage());
  }

  @Test
  void aProfileThatIsNotThereIsNamed() {
    NereidException e = assertThrows(NereidException.class, () -> classifier("0", "fast"));
    assertEquals(
        "model 'm': expected the number of a profile from 0 to 1 in the instance group's profile,"
            + " got 'fast'",
        e.getMessage());
  }
}
