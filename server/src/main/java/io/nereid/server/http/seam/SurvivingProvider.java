package io.nereid.server.http.seam;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/**
 * Provides the JDK's own channels, except for listening sockets: these go on accepting when
 * descriptors or memory run out ({@link SurvivingListener}), where Helidon would end its server for
 * good. The JVM makes the only instance, and any thread may call it.
 */
public final class SurvivingProvider extends SelectorProvider {

  private static final String PROPERTY = "java.nio.channels.spi.SelectorProvider";
  private static final String HELIDON = "io.helidon.";

  private static volatile SurvivingListener opened; // by Helidon, on whatever thread

  private final SelectorProvider jdk = findJdk();

  /** Called by the JVM. */
  public SurvivingProvider() {}

  /**
   * Makes the JVM use this provider, unless a channel was made already, or the JVM does not export
   * its own provider, as the manifest of the server's jar asks. Without it, Helidon's listener
   * stays as it is.
   */
  public static void install() {
    if (System.getProperty(PROPERTY) == null && findJdk() != null) {
      System.setProperty(PROPERTY, SurvivingProvider.class.getName());
    }
  }

  private static SelectorProvider findJdk() {
    try {
      return (SelectorProvider)
          Class.forName("sun.nio.ch.DefaultSelectorProvider").getMethod("get").invoke(null);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /**
   * Opens a server.
   *
   * @param ended runs when its port stops accepting without being closed
   * @param refused runs when a connection is closed because it could not be accepted
   */
  static synchronized void open(Runnable opening, Runnable ended, Runnable refused) {
    opened = null;
    opening.run();
    if (opened != null) {
      opened.tell(ended, refused);
    }
  }

  private static boolean isHelidon(StackWalker.StackFrame frame) {
    return frame.getClassName().startsWith(HELIDON);
  }

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    ServerSocketChannel channel = jdk.openServerSocketChannel();
    if (!StackWalker.getInstance().walk(frames -> frames.anyMatch(SurvivingProvider::isHelidon))) {
      return channel;
    }
    SurvivingListener listener = new SurvivingListener(this, channel, jdk.openSelector());
    opened = listener;
    return listener;
  }

  @Override
  public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
    return jdk.openServerSocketChannel(family);
  }

  @Override
  public SocketChannel openSocketChannel() throws IOException {
    return jdk.openSocketChannel();
  }

  @Override
  public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
    return jdk.openSocketChannel(family);
  }

  @Override
  public DatagramChannel openDatagramChannel() throws IOException {
    return jdk.openDatagramChannel();
  }

  @Override
  public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
    return jdk.openDatagramChannel(family);
  }

  @Override
  public Pipe openPipe() throws IOException {
    return jdk.openPipe();
  }

  @Override
  public AbstractSelector openSelector() throws IOException {
    return jdk.openSelector();
  }
}
