package io.nereid.internal.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.internal.loader.LibraryFiles;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library that is loaded is the one that this binding was written for. */
class LayoutTest {

  @Test
  @SuppressWarnings("restricted")
  void structsHaveTheSizesThatTheLibraryGivesThem() {
    try (Arena arena = Arena.ofConfined()) {
      Path library = LibraryFiles.nativeLibrary(Optional.empty());
      SymbolLookup symbols = SymbolLookup.libraryLookup(library, arena);
      assertEquals(List.of(), AbiCheck.differences(symbols));
    }
    assertEquals(19, AbiCheck.STRUCTS.size());
  }

  @Test
  void anotherLibraryIsRecognised() {
    SymbolLookup libc = Linker.nativeLinker().defaultLookup();
    List<String> differences = AbiCheck.differences(libc);
    assertEquals(1, differences.size());
    assertTrue(differences.getFirst().contains("nrd_abi_version"), differences.toString());
  }

  @Test
  void fieldsAreWhereTheHeaderPutsThem() {
    assertEquals(40, RequestLayout.TENSOR_SHAPE);
    assertEquals(48, RequestLayout.REQUEST_INPUTS);
    assertEquals(72, RequestLayout.REQUEST_STATUS);
    assertEquals(88, RequestLayout.REQUEST_QUEUE_NS);
    assertEquals(40, RequestLayout.BATCH_REQUESTS);
    assertEquals(16, RequestLayout.ERROR_MESSAGE);
    assertEquals(32, ModelLayout.TENSOR_SPEC_DIMS);
    assertEquals(48, ModelLayout.MODEL_INPUTS);
    assertEquals(160, ModelLayout.MODEL_PARAMETER_COUNT);
    assertEquals(184, StatisticsLayout.MODEL_FAIL_REJECTED);
  }

  @Test
  void aLibraryThatCannotBeLoadedIsNamed(@TempDir Path directory) throws Exception {
    NativeLibrary.load(LibraryFiles.nativeLibrary(Optional.empty()));
    Path other = Files.writeString(directory.resolve("libother.so"), "not a library");
    NereidException e = assertThrows(NereidException.class, () -> NativeLibrary.load(other));
    assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
    assertTrue(e.getMessage().contains(other.toString()), e.getMessage());
  }

  @Test
  void longMessagesAreCutBetweenCharacters() {
    try (Arena arena = Arena.ofConfined()) {
      long error = ErrorRecord.allocate(arena);
      ErrorRecord.write(error, 13, "x" + "ü".repeat(1000));
      assertEquals("x" + "ü".repeat(503), ErrorRecord.message(error));
      ErrorRecord.write(error, 13, "");
      assertEquals("", ErrorRecord.message(error));
      ErrorRecord.write(0, 13, "nobody wants to know");
    }
  }
}
