package io.nereid.model;

/** The field that a request looks at: fields of an interface cannot change. */
final class InstalledObserver {

  private static volatile RequestObserver observer;

  private InstalledObserver() {}

  static RequestObserver get() {
    return observer;
  }

  static synchronized void set(RequestObserver next) {
    observer = next;
  }

  static synchronized void clear(RequestObserver last) {
    if (observer == last) {
      observer = null;
    }
  }
}
