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
      assertEquals(List.of(), NativeLibrary.differences(symbols));
    }
    assertEquals(37, NativeLibrary.structs().size());
  }

  @Test
  void anotherLibraryIsRecognised() {
    SymbolLookup libc = Linker.nativeLinker().defaultLookup();
    List<String> differences = NativeLibrary.differences(libc);
    assertEquals(1, differences.size());
    assertTrue(differences.getFirst().contains("nrd_abi_version"), differences.toString());
  }

  @Test
  void fieldsAreWhereTheHeaderPutsThem() {
    assertEquals(40, TensorRecord.SHAPE);
    assertEquals(48, RequestRecord.INPUTS);
    assertEquals(96, RequestRecord.STATUS);
    assertEquals(112, RequestRecord.QUEUE_NS);
    assertEquals(144, Memory.offset(RequestRecord.LAYOUT, "id"));
    assertEquals(180, Memory.offset(RequestRecord.LAYOUT, "response_value_count"));
    assertEquals(32, Memory.offset(RequestRecord.VALUE, "number"));
    assertEquals(40, BatchRecord.REQUESTS);
    assertEquals(16, ErrorRecord.MESSAGE);
    assertEquals(32, TensorSpecRecord.DIMS);
    assertEquals(48, Memory.offset(ModelOptionsRecord.LAYOUT, "inputs"));
    assertEquals(160, Memory.offset(ModelOptionsRecord.LAYOUT, "parameter_count"));
    assertEquals(240, Memory.offset(ModelOptionsRecord.LAYOUT, "max_inflight_requests"));
    assertEquals(32, Memory.offset(SequenceOptionsRecord.SEQUENCES, "controls"));
    assertEquals(184, Memory.offset(StatisticsRecord.MODEL, "fail_rejected"));
    assertEquals(248, Memory.offset(ModelOptionsRecord.LAYOUT, "objective"));
    assertEquals(48, Memory.offset(ObjectiveRecord.OBJECTIVE, "instance_kinds"));
    assertEquals(24, Memory.offset(ObjectiveRecord.COST, "mean_ns"));
    assertEquals(96, Memory.offset(ObjectiveRecord.STATISTICS, "refused_deadline"));
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
