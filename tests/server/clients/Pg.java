import java.sql.*;
import java.util.*;
public class Pg {
  interface F { String f() throws Exception; }
  static void t(String n, F f) { try { System.out.println("ok  "+n+" "+f.f()); } catch (Exception e) { System.out.println("BAD "+n+" "+e); } }
  static String rows(ResultSet r, int c) throws Exception { StringBuilder b=new StringBuilder(); while (r.next()) { b.append("["); for (int i=1;i<=Math.min(c,r.getMetaData().getColumnCount());i++) b.append(r.getObject(i)).append(i<c?", ":""); b.append("]"); } return b.toString(); }
  public static void main(String[] a) throws Exception {
    Properties p=new Properties(); p.put("user","ana"); p.put("password",a[1]);
    Connection c=DriverManager.getConnection("jdbc:postgresql://127.0.0.1:"+a[0]+"/dpsql",p);
    t("query",()->rows(c.createStatement().executeQuery("SELECT specialty, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1"),2));
    t("prepared",()->{String s=""; for(int i=0;i<7;i++){PreparedStatement q=c.prepareStatement("SELECT COUNT(*) AS n FROM visits WHERE cost > ? AND specialty = ?"); q.setInt(1,10); q.setString(2,"oncology"); s+=rows(q.executeQuery(),1);} return s;});
    t("one prepared x7",()->{String s=""; PreparedStatement q=c.prepareStatement("SELECT COUNT(*) AS n, AVG(cost) AS m, SUM(duration) AS d FROM visits WHERE cost > ?"); for(int i=0;i<7;i++){ q.setInt(1,10); s+=rows(q.executeQuery(),3);} return s;});
    t("date",()->{PreparedStatement q=c.prepareStatement("SELECT COUNT(*) AS n FROM visits WHERE visited_on < ? AND duration > ? AND cost < ?"); q.setDate(1,java.sql.Date.valueOf("2020-05-01")); q.setDouble(2,1.5); q.setBigDecimal(3,new java.math.BigDecimal("200")); return rows(q.executeQuery(),1);});
    t("fetchSize",()->{c.setAutoCommit(false); Statement s=c.createStatement(); s.setFetchSize(1); String r=rows(s.executeQuery("SELECT name, floor FROM specialties ORDER BY 1"),2); c.commit(); c.setAutoCommit(true); return r;});
    DatabaseMetaData m=c.getMetaData();
    t("getTables",()->rows(m.getTables(null,null,"%",null),4));
    t("getColumns",()->rows(m.getColumns(null,null,"visits","%"),6));
    t("getPrimaryKeys",()->rows(m.getPrimaryKeys(null,null,"visits"),6));
    t("getSchemas",()->rows(m.getSchemas(),2));
    t("getCatalogs",()->rows(m.getCatalogs(),1));
    t("getTypeInfo",()->""+rows(m.getTypeInfo(),2).length());
    t("getIndexInfo",()->rows(m.getIndexInfo(null,null,"visits",false,false),6));
    t("getImportedKeys",()->rows(m.getImportedKeys(null,null,"visits"),6));
    t("getFunctions",()->rows(m.getFunctions(null,null,"%"),3));
    t("isValid",()->""+c.isValid(2));
    t("insert",()->{ c.createStatement().execute("CREATE TABLE m (a INTEGER)"); PreparedStatement q=c.prepareStatement("INSERT INTO m VALUES (?)"); q.setInt(1,5); return ""+q.executeUpdate();});
    t("error",()->{ try { c.createStatement().executeQuery("SELECT nope FROM visits"); return "no"; } catch (SQLException e) { return e.getSQLState(); }});
    t("timeout",()->{ Statement s=c.createStatement(); s.setQueryTimeout(1); try { StringBuilder f=new StringBuilder(), w=new StringBuilder(); for(int i=0;i<22;i++){ f.append(i>0?"+":"").append("t"+i+".floor"); w.append(i>0?",":"").append("specialties t"+i);} s.executeQuery("SELECT SUM("+f+") AS s FROM "+w); return "no"; } catch (SQLException e) { return e.getSQLState(); }});
    t("after",()->rows(c.createStatement().executeQuery("SELECT 1 AS a"),1));
    c.close();
  }
}
