package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;

/**
 * An object of one of TensorRT's interfaces, with its functions in Java. JavaCPP's classes for most
 * of them cannot be extended, so this class builds the C++ object by the Itanium C++ ABI: a pointer
 * into a table with an offset (0), the class's type information, and, where the pointer points, the
 * functions in the order of their declaration.
 *
 * <p>Interfaces with a version begin with the four of {@code IVersionedInterface}: two that return
 * the language and the version, and two destructors, which do nothing, because the maker closes the
 * object. Interfaces without a version end with the destructors.
 */
public final class NativeInterface implements AutoCloseable {

  /** A C++ class that JavaCPP's library has compiled in, and its version; 0: it has none. */
  public record Type(String name, String typeInformation, int major, int minor) {}

  /** A function of the interface: the method of a Java object, and the parameters from C++. */
  public record Function(MethodHandle method, FunctionDescriptor type) {}

  private static final String LIBRARY = "jninvinfer";
  private static final StructLayout INFO = MemoryLayout.structLayout(ADDRESS, JAVA_INT, JAVA_INT);
  private static final int API_LANGUAGE_CPP = 0;
  private static final int TYPE_INFORMATION = 1;
  private static final int FUNCTIONS = 2;

  /** Owns the object and its functions, until closed. */
  private final Arena arena = Arena.ofShared();

  private final MemorySegment info = arena.allocate(INFO);
  private final MemorySegment self = arena.allocate(ADDRESS);

  /** Makes an object with these functions after the inherited ones, in C++'s order. */
  public NativeInterface(Type type, Function... functions) {
    info.set(ADDRESS, 0, arena.allocateFrom(type.name()));
    info.set(JAVA_INT, ADDRESS.byteSize(), type.major());
    info.set(JAVA_INT, ADDRESS.byteSize() + Integer.BYTES, type.minor());
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    Function destructor = function(lookup, this, "destroy", FunctionDescriptor.ofVoid());
    List<Function> all = new ArrayList<>(List.of(functions));
    boolean hasVersion = type.major() > 0;
    all.addAll(hasVersion ? 0 : all.size(), List.of(destructor, destructor));
    if (hasVersion) {
      all.add(0, function(lookup, this, "apiLanguage", FunctionDescriptor.of(JAVA_INT)));
      all.add(1, function(lookup, this, "interfaceInfo", FunctionDescriptor.of(INFO)));
    }
    MemorySegment table = arena.allocate(ADDRESS, FUNCTIONS + all.size());
    table.setAtIndex(ADDRESS, TYPE_INFORMATION, typeInformation(type));
    for (int i = 0; i < all.size(); i++) {
      table.setAtIndex(ADDRESS, FUNCTIONS + i, stub(all.get(i)));
    }
    self.set(ADDRESS, 0, table.asSlice(FUNCTIONS * ADDRESS.byteSize()));
  }

  /**
   * Makes a function that calls a method of {@code target}; C++ passes the object before the other
   * arguments.
   */
  public static Function function(
      MethodHandles.Lookup lookup, Object target, String method, FunctionDescriptor type) {
    FunctionDescriptor all = type.insertArgumentLayouts(0, ADDRESS);
    MethodType methodType = type.toMethodType();
    try {
      MethodHandle handle =
          lookup.findVirtual(target.getClass(), method, methodType).bindTo(target);
      return new Function(MethodHandles.dropArguments(handle, 0, MemorySegment.class), all);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(e); // impossible: callers name methods of their own
    }
  }

  /** Returns the address of the object, which is valid until the object is closed. */
  public Pointer address() {
    return NativePointer.of(self);
  }

  @SuppressWarnings("restricted")
  private MemorySegment stub(Function function) {
    return Linker.nativeLinker().upcallStub(function.method(), function.type(), arena);
  }

  /**
   * Returns the type information that C++ compares when it casts, as JavaCPP's library does; null
   * if that library is not loaded, since then no cast happens.
   */
  @SuppressWarnings("restricted")
  private static MemorySegment typeInformation(Type type) {
    String library = Loader.getLoadedLibraries().get(LIBRARY);
    if (library == null) {
      return MemorySegment.NULL;
    }
    return SymbolLookup.libraryLookup(Path.of(library), Arena.global())
        .findOrThrow(type.typeInformation());
  }

  // ---- Called by C++ ---------------------------------------------------------------------------

  private int apiLanguage() {
    return API_LANGUAGE_CPP;
  }

  private MemorySegment interfaceInfo() {
    return info;
  }

  private void destroy() {}

  /** Called when TensorRT does not refer to the object any more. */
  @Override
  public void close() {
    arena.close();
  }
}
