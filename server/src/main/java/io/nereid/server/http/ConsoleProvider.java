package io.nereid.server.http;

import io.nereid.server.access.AccessControl;
import io.nereid.server.shared.ServerState;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A console that is handed to the HTTP frontend, which serves it beside the protocol. The frontend
 * opens it once, when the server starts.
 */
public interface ConsoleProvider {

  /** The path of the console's first page; begins and ends with a slash. */
  String path();

  /** Opens the console of a server, until the server stops. */
  Pages open(ServerState state);

  /**
   * The files, documents and events of one server's console. Documents are JSON. Any thread may
   * call this. Version 0 means the one that takes requests.
   */
  interface Pages {

    /** The path of the first page, as the provider says it. */
    String path();

    /** The file of a name in lower case that ends like {@code .js}; empty: there is none. */
    Optional<Content> file(String name);

    /** Opens a stream about all models. */
    Events overview();

    /** Opens a stream about a model. */
    Events model(String name, long version);

    /** Opens a stream about slow requests. */
    Events requests();

    /** The last event of a stream that ends by itself. */
    byte[] end(String reason);

    /** The description of the server, and of the rights of a request with these fields. */
    byte[] about(AccessControl access, UnaryOperator<String> fields);

    /** The description of a model. */
    byte[] details(String name, long version);

    /** A model's configuration, and where each value came from. */
    byte[] configuration(String name, long version);

    /** The changes that loading a model again would make. */
    byte[] reload(String name, long version);

    /**
     * The figures that the console keeps.
     *
     * @param name empty: all models together
     * @param version 0: all versions
     */
    byte[] history(String name, long version);

    /** The slow requests. */
    byte[] slowRequests();

    /** The description of the protocol, for programs. */
    byte[] openApi();

    /** The description of a model, for programs. */
    byte[] openApi(String name);
  }

  /** A stream of events for one page. One thread takes them; any thread may wake it. */
  interface Events extends AutoCloseable {

    /**
     * Waits for the next event; for a few seconds at most, so that empty ones come in between.
     *
     * @return the event, encoded for the wire; null: the stream has ended
     */
    byte[] next() throws InterruptedException;

    /** Makes the waiting thread give up. */
    void wake();

    @Override
    void close();
  }

  /**
   * A file of the pages.
   *
   * @param type its media type
   * @param tag a strong validator, in quotes
   * @param plain its bytes, not to be changed
   * @param zipped the same in gzip, not to be changed
   */
  record Content(String type, String tag, byte[] plain, byte[] zipped) {}
}
