package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.LongStream;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.INoCopy;
import org.bytedeco.tensorrt.nvonnxparser.IParserError;

/**
 * Deletes and reads TensorRT's objects. TensorRT 10 has no functions for that: C++ code uses
 * delete, and JavaCPP deletes only objects of its own constructors.
 */
public final class NativeObjects {

  /**
   * The place in the virtual table of the destructor that frees the object, too. All these classes
   * have {@code INoCopy} as their first base, whose only virtual function is the destructor, and
   * the Itanium C++ ABI, which Linux uses, puts the deleting one behind the plain one.
   */
  private static final int DELETING_DESTRUCTOR = 1;

  private static final int SHOWN_ERRORS = 3;

  private static final MethodHandle DESTRUCTOR = destructor();

  private NativeObjects() {}

  /** Deletes an object that TensorRT's functions returned, if it returned one. */
  public static void delete(INoCopy object) {
    if (!Pointer.isNull(object)) {
      delete(object, DELETING_DESTRUCTOR);
      object.setNull();
    }
  }

  /** Deletes an object whose class has the destructor at another place of its virtual table. */
  @SuppressWarnings("restricted")
  public static void delete(Pointer object, int destructor) {
    MemorySegment self = MemorySegment.ofAddress(object.address()).reinterpret(ADDRESS.byteSize());
    MemorySegment table = self.get(ADDRESS, 0).reinterpret((destructor + 1) * ADDRESS.byteSize());
    try {
      DESTRUCTOR.invokeExact(table.getAtIndex(ADDRESS, destructor), self);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException(t); // a downcall throws nothing checked
    }
  }

  static void set(Dims64 dims, long... sizes) {
    dims.nbDims(sizes.length);
    for (int i = 0; i < sizes.length; i++) {
      dims.d(i, sizes[i]);
    }
  }

  /** Converts sizes to TensorRT's type. */
  public static Dims64 dims(List<Long> sizes) {
    Dims64 dims = new Dims64();
    set(dims, sizes.stream().mapToLong(Long::longValue).toArray());
    return dims;
  }

  /** Returns the sizes: none for a scalar or an unknown shape. */
  static long[] sizes(Dims64 dims) {
    long[] sizes = new long[Math.max(0, dims.nbDims())];
    Arrays.setAll(sizes, dims::d);
    return sizes;
  }

  public static List<Long> list(Dims64 dims) {
    return LongStream.of(sizes(dims)).boxed().toList();
  }

  /** Returns the errors that a parser of ONNX files reports. */
  public static String errors(int count, IntFunction<IParserError> errors) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(count, SHOWN_ERRORS); i++) {
      IParserError error = errors.apply(i);
      text.append(i == 0 ? "" : "; ");
      if (error.node() >= 0) {
        text.append("node ").append(error.node());
        text.append(" (").append(error.nodeOperator()).append(" '");
        text.append(error.nodeName()).append("'): ");
      }
      text.append(error.desc());
    }
    if (count > SHOWN_ERRORS) {
      text.append("; and ").append(count - SHOWN_ERRORS).append(" more");
    }
    return count == 0 ? "its parser does not say why" : text.toString();
  }

  /**
   * Tells the bytes of one element of an engine's input or output. TensorRT's own function for this
   * answers -1 for every tensor whose elements are not packed into vectors.
   *
   * @throws NereidException {@code UNIMPLEMENTED} if the type has no whole number of bytes
   */
  public static int elementBytes(ICudaEngine engine, String tensor) {
    EngineType type = EngineType.ofNumber(engine.getTensorDataType(tensor).value);
    if (type == null || type.dataType() == null) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED, "tensor '" + tensor + "' has elements of no whole bytes");
    }
    return type.byteSize();
  }

  @SuppressWarnings("restricted")
  private static MethodHandle destructor() {
    return Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid(ADDRESS));
  }
}
