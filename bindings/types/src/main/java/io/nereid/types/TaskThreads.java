package io.nereid.types;

import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/** Makes threads for tasks that wait more than they compute. Any thread may call it. */
public final class TaskThreads {

  private TaskThreads() {}

  /**
   * Runs each task on a thread of its own that does not keep the JVM alive: a virtual one since
   * Java 21. This class is compiled for Java 17, so it finds those by their names.
   */
  public static Executor executor(String name) {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      Object named = type.getMethod("name", String.class).invoke(builder, name);
      ThreadFactory factory = (ThreadFactory) type.getMethod("factory").invoke(named);
      return task -> factory.newThread(task).start();
    } catch (ReflectiveOperationException e) {
      return Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
      });
    }
  }
}
