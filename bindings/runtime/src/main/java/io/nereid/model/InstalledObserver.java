package io.nereid.model;

/** Holds the installed observer, because an interface's own fields are final. */
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
