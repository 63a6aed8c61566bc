package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.model.ModelSignature;
import io.nereid.model.TensorSpec;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The functions that the program {@code nereid-child} calls about isolated models of backends in
 * Java, in the JVM that it has started: they open, describe, configure and close a model. Its
 * instances are called as {@link BackendUpcalls} says. One thread at a time calls about a model;
 * different models may have different threads.
 */
public final class ChildUpcalls {

  /** A model in a child. Its instances may be opened once it is configured. */
  public interface Model extends BackendUpcalls.Load {

    /** The inputs and outputs that the model itself declares; empty: it declares none. */
    Optional<ModelSignature> signature();

    /** Memory that lives as long as the model. */
    Arena memory();

    /** The text for the parent, which reads it before it configures the model. */
    String facts();

    /** Makes the model ready to open instances; an exception fails the load. */
    void configure(Map<String, String> parameters) throws Throwable;

    /** Frees the model's memory, after its instances are closed. */
    void close();
  }

  /** Opens a model by the parameters that the parent has sent. */
  public interface Opener {

    /** Opens the model; an exception fails the load. */
    Model open(Map<String, String> parameters) throws Throwable;
  }

  private static final int OK = 0;
  private static final int INPUT = 0; // NRD_TENSOR_INPUT
  private static final String A_BACKEND = "a backend";

  private static final MemoryLayout L = JAVA_LONG;

  static final long OPEN_MODEL = upcall("openModel", FunctionDescriptor.of(JAVA_INT, L, L, L, L));
  static final long DESCRIBE =
      upcall("describe", FunctionDescriptor.of(JAVA_INT, L, JAVA_INT, JAVA_INT, L));
  static final long CONFIGURE = upcall("configure", FunctionDescriptor.of(JAVA_INT, L, L, L));
  static final long CLOSE_MODEL = upcall("closeModel", FunctionDescriptor.ofVoid(L));

  private static volatile Opener opener;
  private static volatile MethodHandle told;
  private static volatile MethodHandle giveUp;

  private ChildUpcalls() {}

  private static long upcall(String name, FunctionDescriptor type) {
    return NativeCalls.upcall(MethodHandles.lookup(), name, type);
  }

  /**
   * The address of the {@code nrd_backend} of a child, which stays until the process ends. Called
   * once, before any model is opened.
   *
   * @param find address of the function that finds the functions of the C ABI by their names
   */
  public static long table(long find, Opener models) {
    NativeLibrary.checkAccess();
    NativeLibrary.use(lookup(find));
    FunctionDescriptor text = FunctionDescriptor.ofVoid(L, L);
    told = NativeCalls.downcall("nrd_child_told", text);
    giveUp = NativeCalls.downcall("nrd_child_give_up", text);
    opener = models;
    return BackendRecord.ofChild(Arena.global(), OPEN_MODEL, DESCRIBE, CONFIGURE, CLOSE_MODEL)
        .address();
  }

  @SuppressWarnings("restricted")
  private static SymbolLookup lookup(long find) {
    MethodHandle call =
        Linker.nativeLinker()
            .downcallHandle(MemorySegment.ofAddress(find), FunctionDescriptor.of(L, L));
    return name -> {
      try (Arena arena = Arena.ofConfined()) {
        long address = (long) call.invokeExact(arena.allocateFrom(name).address());
        return address == 0 ? Optional.empty() : Optional.of(MemorySegment.ofAddress(address));
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
    };
  }

  /** The model's state is its number among the loads of {@link BackendUpcalls}. */
  static int openModel(long context, long options, long stateOut, long error) {
    try (Arena arena = Arena.ofConfined()) {
      Model model = opener.open(ModelOptionsRecord.readParameters(options));
      byte[] facts = model.facts().getBytes(StandardCharsets.UTF_8);
      told.invokeExact(arena.allocateFrom(JAVA_BYTE, facts).address(), (long) facts.length);
      Memory.writeLong(stateOut, BackendUpcalls.add(model));
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, A_BACKEND);
    }
  }

  /** Ends this process without the exit handlers of the JVM and of libraries. */
  public static void giveUp(String reason) {
    try (Arena arena = Arena.ofConfined()) {
      byte[] text = reason.getBytes(StandardCharsets.UTF_8);
      giveUp.invokeExact(arena.allocateFrom(JAVA_BYTE, text).address(), (long) text.length);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  private static Model model(long state) {
    return (Model) BackendUpcalls.find(state);
  }

  static int describe(long state, int kind, int index, long specOut) {
    try {
      Model model = model(state);
      Optional<ModelSignature> signature = model.signature();
      if (signature.isEmpty()) {
        return StatusCode.UNIMPLEMENTED.number();
      }
      List<TensorSpec> tensors =
          kind == INPUT ? signature.get().inputs() : signature.get().outputs();
      if (index >= tensors.size()) {
        return StatusCode.NOT_FOUND.number();
      }
      // The name must stay in memory as long as the model.
      long spec = TensorSpecRecord.write(model.memory(), List.of(tensors.get(index)), 1);
      Memory.copy(spec, specOut, TensorSpecRecord.LAYOUT.byteSize());
      return OK;
    } catch (Throwable t) {
      CoreLog.logQuietly("a backend failed to describe its model", t);
      return StatusCode.INTERNAL.number();
    }
  }

  static int configure(long state, long options, long error) {
    try {
      model(state).configure(ModelOptionsRecord.readParameters(options));
      return OK;
    } catch (Throwable t) {
      return ErrorRecord.report(t, error, A_BACKEND);
    }
  }

  static void closeModel(long state) {
    try {
      model(state).close();
    } catch (Throwable t) {
      CoreLog.logQuietly("a backend failed to close its model", t);
    }
    BackendUpcalls.remove(state);
  }
}
