package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.annotations.SerializedName;
import io.kubernetes.client.custom.IntOrString;
import io.kubernetes.client.custom.Quantity;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * Holds documents against the API that Kubernetes publishes, as the classes of its Java client have
 * it: fields that are unknown or of another type, and required ones that are not there. A test's
 * own class may stand for a resource that is not Kubernetes' own; it may refer to classes of the
 * client.
 */
final class KubernetesShape {

  /**
   * What is no model class but has a form of its own, with the Java types that YAML makes of it.
   */
  private static final Map<Class<?>, List<Class<?>>> SCALARS =
      Map.of(
          String.class, List.of(String.class),
          Integer.class, List.of(Integer.class),
          Long.class, List.of(Integer.class, Long.class),
          Boolean.class, List.of(Boolean.class),
          IntOrString.class, List.of(Integer.class, String.class),
          Quantity.class, List.of(Integer.class, String.class));

  private KubernetesShape() {}

  /** The documents of a YAML file, each a map. */
  static List<Map<?, ?>> read(Path file) throws IOException {
    List<Map<?, ?>> documents = new ArrayList<>();
    Load load = new Load(LoadSettings.builder().setLabel(file.toString()).build());
    for (Object document : load.loadAllFromString(Files.readString(file))) {
      documents.add((Map<?, ?>) document);
    }
    return documents;
  }

  /** What is at a path of keys and positions. */
  static Object at(Object document, Object... path) {
    Object at = document;
    for (Object step : path) {
      at = step instanceof Integer index ? ((List<?>) at).get(index) : ((Map<?, ?>) at).get(step);
      assertTrue(at != null, () -> step + " of " + List.of(path) + " is missing");
    }
    return at;
  }

  /**
   * A document with a patch, merged as kustomize does it: lists of named objects by their names.
   */
  static Object patched(Object document, Object patch) {
    if (document instanceof Map<?, ?> old && patch instanceof Map<?, ?> changes) {
      Map<Object, Object> merged = new LinkedHashMap<>(old);
      changes.forEach((key, value) -> merged.put(key, patched(old.get(key), value)));
      return merged;
    }
    if (document instanceof List<?> old && at(patch, 0) instanceof Map<?, ?> first) {
      String key = first.containsKey("mountPath") ? "mountPath" : "name";
      if (first.containsKey(key)) {
        Map<Object, Object> merged = new LinkedHashMap<>();
        old.forEach(one -> merged.put(at(one, key), one));
        for (Object one : (List<?>) patch) {
          if (((Map<?, ?>) one).containsKey("$patch")) {
            assertTrue(merged.remove(at(one, key)) != null, () -> one + " is not there");
          } else {
            merged.put(at(one, key), patched(merged.get(at(one, key)), one));
          }
        }
        return List.copyOf(merged.values());
      }
    }
    return patch;
  }

  /** Fails, with the place, where a document is not of this class' shape. */
  static void check(Object document, Class<?> shape) {
    check(document, shape, shape.getSimpleName());
  }

  private static void check(Object value, Type type, String place) {
    if (type instanceof ParameterizedType generic) {
      checkCollection(value, generic, place);
      return;
    }
    Class<?> shape = (Class<?>) type;
    List<Class<?>> scalars = SCALARS.get(shape);
    if (scalars != null) {
      assertTrue(
          scalars.contains(value.getClass()),
          () -> place + ": expected " + shape.getSimpleName() + ", got " + value);
      if (shape == Quantity.class) {
        assertDoesNotThrow(() -> Quantity.fromString(value.toString()), place);
      }
      return;
    }
    assertTrue(value instanceof Map, () -> place + ": expected an object, got " + value);
    Map<String, Type> fields = fields(shape);
    ((Map<?, ?>) value)
        .forEach((name, member) -> {
          String inner = place + "." + name;
          assertTrue(fields.containsKey(name), () -> "unknown field " + inner);
          assertTrue(member != null, () -> inner + " is empty");
          check(member, fields.get(name), inner);
        });
    checkRequired(value, shape, place);
  }

  private static void checkCollection(Object value, ParameterizedType generic, String place) {
    Type[] arguments = generic.getActualTypeArguments();
    if (generic.getRawType() == List.class) {
      assertTrue(value instanceof List, () -> place + ": expected a list, got " + value);
      for (Object element : (List<?>) value) {
        check(element, arguments[0], place + "[]");
      }
    } else {
      assertTrue(value instanceof Map, () -> place + ": expected a map, got " + value);
      ((Map<?, ?>) value)
          .forEach((key, element) -> check(element, arguments[1], place + "." + key));
    }
  }

  private static Map<String, Type> fields(Class<?> shape) {
    Map<String, Type> fields = new HashMap<>();
    for (Field field : shape.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        SerializedName name = field.getAnnotation(SerializedName.class);
        fields.put(name == null ? field.getName() : name.value(), field.getGenericType());
      }
    }
    return fields;
  }

  /** The client's classes know which of their fields are required; others have no such method. */
  private static void checkRequired(Object value, Class<?> shape, String place) {
    try {
      Method validate = shape.getMethod("validateJsonElement", JsonElement.class);
      validate.invoke(null, new Gson().toJsonTree(value));
    } catch (NoSuchMethodException e) {
      assertTrue(shape.getName().startsWith("io.nereid."), () -> place + " cannot be validated");
    } catch (InvocationTargetException e) {
      throw new AssertionError(place + ": " + e.getCause().getMessage(), e);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }
}
