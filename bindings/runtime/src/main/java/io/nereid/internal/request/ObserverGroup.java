package io.nereid.internal.request;

import io.nereid.internal.ffi.CoreLog;
import io.nereid.model.RequestObserver;
import io.nereid.model.SentRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * Passes a runtime's requests to several observers, as to each alone. Immutable; the threads that
 * send and complete requests call it.
 */
record ObserverGroup(List<RequestObserver> members) implements RequestObserver {

  /** Adds one observer to {@code now}, which is null if there is none yet. */
  static RequestObserver with(RequestObserver now, RequestObserver one) {
    return of(now, one, true);
  }

  /** Removes one observer from {@code now}; null: none is left. */
  static RequestObserver without(RequestObserver now, RequestObserver one) {
    return of(now, one, false);
  }

  private static RequestObserver of(RequestObserver now, RequestObserver one, boolean added) {
    List<RequestObserver> members = new ArrayList<>();
    if (now instanceof ObserverGroup group) {
      members.addAll(group.members);
    } else if (now != null) {
      members.add(now);
    }
    members.removeIf(member -> member == one);
    if (added) {
      members.add(one);
    }
    return switch (members.size()) {
      case 0 -> null;
      case 1 -> members.getFirst();
      default -> new ObserverGroup(List.copyOf(members));
    };
  }

  @Override
  public Observation begin(SentRequest request) {
    List<Observation> interested = new ArrayList<>(members.size());
    for (RequestObserver member : members) {
      try {
        Observation observation = member.begin(request);
        if (observation != null) {
          interested.add(observation);
        }
      } catch (RuntimeException | Error e) { // the other observers still hear of the request
        CoreLog.logQuietly("an observer failed as a request began", e);
      }
    }
    return interested.isEmpty() ? null : outcome -> end(interested, outcome);
  }

  private static void end(List<Observation> observations, Outcome outcome) {
    for (Observation observation : observations) {
      try {
        observation.end(outcome);
      } catch (RuntimeException | Error e) {
        CoreLog.logQuietly("an observer failed as a request ended", e);
      }
    }
  }
}
