package io.nereid.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The example that the package shows in its documentation. */
class TypesGuideTest {

  @Test
  void theVocabularyIsUsed() {
    // @start region="types"
    assertEquals(24, Shapes.elementCount(2, 3, 4) * DataType.INT8.byteSize());
    assertEquals(1.5f, HalfPrecision.fp16ToFloat(HalfPrecision.floatToFp16(1.5f)));

    assertThrows(IllegalArgumentException.class, () -> Shapes.elementCount(2, -1));
    assertTrue(
        Names.hint("there is", "simpel", List.of("simple")).contains("did you mean simple?"));
    // @end
  }
}
