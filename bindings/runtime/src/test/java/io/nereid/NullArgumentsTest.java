package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.DynamicBatching;
import io.nereid.model.Ensemble;
import io.nereid.model.HostPolicy;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelOverride;
import io.nereid.model.ModelSpec;
import io.nereid.model.QueuePolicy;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.ResourceCount;
import io.nereid.model.TensorSpec;
import io.nereid.model.WarmUp;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** An argument that must not be null is named when it is, throughout the public API. */
class NullArgumentsTest extends RuntimeTest {

  /** Where null has a meaning: the method's or type's name. */
  private static final Set<String> NULL_IS_ALLOWED =
      Set.of("NereidException", "nativePath", "onnxruntimePath", "equals");

  private final List<String> silent = new ArrayList<>();
  private int calls;

  @Test
  void everyNullIsNamed() throws Exception {
    Model model = nereid.load(identity("m").build());
    for (Class<?> type :
        List.of(
            Nereid.class,
            Tensor.class,
            TensorSpec.class,
            ModelSpec.class,
            NereidOptions.class,
            RepositoryOptions.class,
            DynamicBatching.class,
            QueuePolicy.class,
            InstanceGroup.class,
            InstanceGroup.RateLimiter.class,
            HostPolicy.class,
            ResourceCount.class,
            Ensemble.class,
            Ensemble.Step.class,
            ModelOverride.class,
            WarmUp.class)) {
      for (Method method : type.getDeclaredMethods()) {
        if (Modifier.isStatic(method.getModifiers())) {
          tryNulls(method, () -> null);
        }
      }
      for (var constructor : type.getConstructors()) {
        tryNulls(constructor, () -> null);
      }
    }
    tryMethods(Nereid.class, () -> nereid);
    tryMethods(InferRequest.class, model::newRequest);
    tryMethods(ModelSpec.Builder.class, () -> identity("n"));
    tryMethods(NereidOptions.Builder.class, NereidOptions::builder);
    tryMethods(RepositoryOptions.Builder.class, RepositoryOptions::builder);
    tryMethods(DynamicBatching.Builder.class, DynamicBatching::builder);
    tryMethods(Repository.class, nereid::repository);
    try (var request = model.newRequest().input("IN", row(1));
        var response = request.infer()) {
      tryMethods(InferResponse.class, () -> response);
      tryMethods(Tensor.class, () -> response.output("OUT"));
    }
    assertEquals(List.of(), silent);
    assertTrue(calls > 60, "calls: " + calls);
  }

  private interface Target {
    Object get() throws Exception;
  }

  private void tryMethods(Class<?> type, Target target) throws Exception {
    for (Method method : type.getDeclaredMethods()) {
      if (!Modifier.isStatic(method.getModifiers())) {
        tryNulls(method, target);
      }
    }
  }

  private void tryNulls(Executable called, Target target) throws Exception {
    String name = called.getDeclaringClass().getSimpleName();
    if (!Modifier.isPublic(called.getModifiers())
        || called.isSynthetic()
        || NULL_IS_ALLOWED.contains(called.getName())
        || NULL_IS_ALLOWED.contains(name)) {
      return;
    }
    Parameter[] parameters = called.getParameters();
    for (int i = 0; i < parameters.length; i++) {
      if (parameters[i].getType().isPrimitive() || parameters[i].getType() == Object.class) {
        continue;
      }
      Object[] arguments = new Object[parameters.length];
      for (int j = 0; j < arguments.length; j++) {
        arguments[j] = j == i ? null : sample(parameters[j].getType());
      }
      Object subject = target.get();
      String outcome = call(called, subject, arguments);
      if (!outcome.endsWith(" must not be null")) {
        silent.add(name + "." + called.getName() + " argument " + (i + 1) + ": " + outcome);
      }
      calls++;
      if (subject instanceof InferRequest request) {
        request.close();
      }
    }
  }

  private static String call(Executable called, Object target, Object[] arguments)
      throws ReflectiveOperationException {
    try {
      Object result =
          called instanceof Method method
              ? method.invoke(target, arguments)
              : ((Constructor<?>) called).newInstance(arguments);
      if (result instanceof AutoCloseable closeable && result != target) {
        closeable.close();
      }
      return "nothing was thrown";
    } catch (InvocationTargetException e) {
      return e.getCause() instanceof NullPointerException
          ? String.valueOf(e.getCause().getMessage())
          : String.valueOf(e.getCause());
    } catch (Exception e) {
      return e.toString();
    }
  }

  /** Something valid of each type. */
  private static Object sample(Class<?> type) {
    if (type.isArray()) {
      return Array.newInstance(type.getComponentType(), 0);
    }
    return switch (type.getSimpleName()) {
      case "int" -> 1;
      case "long" -> 1L;
      case "boolean" -> true;
      case "float" -> 1f;
      case "double" -> 1.0;
      case "String" -> "IN";
      case "Duration" -> Duration.ofSeconds(1);
      case "Path" -> Path.of("nowhere");
      case "Tensor" -> row(1);
      case "DataType" -> DataType.BF16;
      case "MemorySegment" -> MemorySegment.ofArray(new byte[4]);
      case "List" -> List.of();
      case "Map" -> Map.of();
      case "Optional" -> Optional.empty();
      case "OptionalLong" -> OptionalLong.empty();
      case "Backend" -> (Backend) context -> batch -> {};
      case "TensorSpec" -> TensorSpec.of("T", DataType.FP32, 4);
      case "ModelSpec" -> identity("sample").build();
      case "NereidOptions" -> NereidOptions.DEFAULT;
      case "RepositoryOptions" -> RepositoryOptions.builder().explicit().build();
      case "DynamicBatching" -> DynamicBatching.create();
      case "QueuePolicy" -> QueuePolicy.DEFAULT;
      case "DeviceMemory" -> new DeviceMemory(0, 64, 16);
      case "Runnable" -> (Runnable) () -> {};
      default -> null;
    };
  }
}
