import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.ConstantPoolSharingOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Writes the classes of a jar anew in the format of Java 8, where theirs is older than Java 6: the
 * AOT cache takes no such classes, so each start would read and verify them. What they do stays the
 * same, and the jar's manifest says what was done. A jar without such classes is left as it is.
 * {@code java -cp JAR ClassFormat.java JAR}, since the frames that the new format wants depend on
 * how the classes extend each other.
 */
final class ClassFormat {
  private static final int OLDEST_CACHED = ClassFile.JAVA_6_VERSION;
  private static final ClassFile WRITER =
      ClassFile.of(
          StackMapsOption.GENERATE_STACK_MAPS,
          ConstantPoolSharingOption.NEW_POOL,
          ClassHierarchyResolverOption.of(
              ClassHierarchyResolver.ofResourceParsing(ClassLoader.getSystemClassLoader())));

  private ClassFormat() {}

  /** Replaces the jar that is named. */
  public static void main(String[] args) throws IOException {
    Path jar = Path.of(args[0]);
    Path renewed = Path.of(args[0] + ".new");
    try (JarFile old = new JarFile(jar.toFile())) {
      if (!hasOldClasses(old)) {
        return;
      }
      try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(renewed))) {
        copy(old, out);
      }
    }
    Files.move(renewed, jar, REPLACE_EXISTING);
  }

  private static boolean hasOldClasses(JarFile jar) throws IOException {
    for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
      if (isClass(entry) && WRITER.parse(bytes(jar, entry)).majorVersion() < OLDEST_CACHED) {
        return true;
      }
    }
    return false;
  }

  private static void copy(JarFile old, JarOutputStream out) throws IOException {
    for (Enumeration<JarEntry> entries = old.entries(); entries.hasMoreElements(); ) {
      JarEntry entry = entries.nextElement();
      JarEntry written = new JarEntry(entry.getName());
      written.setTimeLocal(entry.getTimeLocal());
      out.putNextEntry(written);
      if (entry.getName().equals(JarFile.MANIFEST_NAME)) {
        var manifest = old.getManifest();
        manifest
            .getMainAttributes()
            .putValue("Changed-By-Nereid", "classes are written in the format of Java 8");
        manifest.write(out);
      } else {
        out.write(isClass(entry) ? renewed(bytes(old, entry)) : bytes(old, entry));
      }
      out.closeEntry();
    }
  }

  private static byte[] renewed(byte[] bytes) {
    ClassModel model = WRITER.parse(bytes);
    if (model.majorVersion() >= OLDEST_CACHED) {
      return bytes;
    }
    ClassTransform version =
        (builder, element) -> {
          if (element instanceof ClassFileVersion) {
            builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
          } else {
            builder.with(element);
          }
        };
    return WRITER.transformClass(
        model, version.andThen(ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL)));
  }

  private static boolean isClass(JarEntry entry) {
    return entry.getName().endsWith(".class");
  }

  private static byte[] bytes(JarFile jar, JarEntry entry) throws IOException {
    try (InputStream in = jar.getInputStream(entry)) {
      return in.readAllBytes();
    }
  }
}
