package io.nereid.server.options;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;

/**
 * Copies a record of options with one component changed, by reflection. Thus no component has to be
 * listed for copying, and none can be forgotten. The first copy of a record class takes 5 ms: cheap
 * enough for setting up a server, too slow for requests and for every start.
 */
public final class RecordCopy {

  private RecordCopy() {}

  /**
   * Returns a copy with another value of one component, which the record's constructor checks.
   *
   * @param component the component's name
   */
  public static <R extends Record> R with(R record, String component, Object value) {
    RecordComponent[] components = record.getClass().getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    boolean found = false;
    try {
      for (int i = 0; i < components.length; i++) {
        boolean replaced = components[i].getName().equals(component);
        types[i] = components[i].getType();
        values[i] = replaced ? value : components[i].getAccessor().invoke(record);
        found |= replaced;
      }
      if (!found) {
        throw new IllegalArgumentException(
            "expected a component of " + record.getClass().getName() + ", got " + component);
      }
      @SuppressWarnings("unchecked") // a record's constructor makes nothing else
      R copy = (R) record.getClass().getDeclaredConstructor(types).newInstance(values);
      return copy;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException refused) {
        throw refused;
      }
      throw new AssertionError("a record's constructor throws nothing else", e);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError("records of options are public", e);
    }
  }
}
